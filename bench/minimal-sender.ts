// A small program that gives the same guarantee for mails as a running Postern, to show what the guarantee costs. It
// commits the claim of a mail before it sends the mail, and the outcome before the connection sends the next one.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { SendMailOptions, Transporter } from 'nodemailer';

const connections = 5;
const rowsPerCommit = 200;
const mailsPerClaim = 10;

/** Adds `count` mails to a queue in a database of its own, and sends them. @param mailOf returns the mail with the given number */
export async function sendByQueue(
  folder: string,
  transport: Transporter,
  count: number,
  mailOf: (number: number) => SendMailOptions,
): Promise<void> {
  using db = new DatabaseSync(join(folder, 'minimal-sender.db'));
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  db.exec('DROP TABLE IF EXISTS delivery; CREATE TABLE delivery (id INTEGER PRIMARY KEY, recipient TEXT, state TEXT)');
  db.exec("CREATE INDEX delivery_waiting ON delivery(id) WHERE state = 'waiting'");
  const add = db.prepare("INSERT INTO delivery (id, recipient, state) VALUES (?, ?, 'waiting')");
  for (let at = 0; at < count; at += rowsPerCommit) {
    db.exec('BEGIN');
    for (let number = at; number < Math.min(count, at + rowsPerCommit); number += 1) add.run(number + 1, String(mailOf(number).to));
    db.exec('COMMIT');
  }
  const claim = db.prepare(
    `UPDATE delivery SET state = 'sending'
      WHERE id IN (SELECT id FROM delivery WHERE state = 'waiting' ORDER BY id LIMIT ${mailsPerClaim}) RETURNING id`,
  );
  const record = db.prepare("UPDATE delivery SET state = 'sent' WHERE id = ?");
  async function work(): Promise<void> {
    for (let claimed = claim.all(); claimed.length > 0; claimed = claim.all())
      for (const { id } of claimed) {
        await transport.sendMail(mailOf(Number(id) - 1));
        record.run(Number(id));
      }
  }
  await Promise.all(Array.from({ length: connections }, work));
}
