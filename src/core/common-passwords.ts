import { fold } from './fold.ts';

// Common passwords from published leaks, and others that attackers try first. All have at least ten characters: shorter ones are refused
// anyway.
const commonPasswords = new Set(
  `1234567890 0123456789 0987654321 9876543210 1234567891 12345678910 123456789a a123456789 123456789q q123456789 1q2w3e4r5t
  1qaz2wsx3edc 1qazxsw23edc qwertyuiop qwertyuiop1 qwerty1234 qwerty12345 qwerty123456 1234qwerty 123456qwerty asdfghjkl1
  asdfghjkl; zxcvbnm123 password12 password123 password1234 password12345 passw0rd123 p@ssw0rd123 p@ssword123 p4ssw0rd123
  passwordpassword mypassword mypassword1 newpassword changeme123 changeit123 letmein123 welcome123 welcome1234 welcome2024
  welcome2025 welcome2026 iloveyou12 iloveyou123 iloveyou1234 iloveyouforever admin12345 admin123456 administrator
  administrator1 adminadmin rootroot12 superman123 batman1234 football123 baseball123 basketball princess123 dragon1234
  monkey1234 sunshine123 michael123 jordan2323 charlie123 liverpool1 liverpool123 manchester manchester1 barcelona1
  11111111111 1111111111 0000000000 2222222222 3333333333 4444444444 5555555555 6666666666 7777777777 8888888888 9999999999
  aaaaaaaaaa abcdefghij abcdefghijk abcd123456 abc123456789 abc1234567 123abc123abc 1122334455 11223344556677 1029384756
  0102030405 1357924680 147258369a 123123123a 123123123123 123321123321 741852963a 789456123a 1a2b3c4d5e a1b2c3d4e5 q1w2e3r4t5
  zaq12wsxcde3 qazwsxedcrfv qazwsxedc1 trustno1234 whatever123 computer123 internet123 secret1234 secret12345 starwars123
  hello12345 helloworld helloworld1 freedom123 master1234 shadow1234 summer2024 summer2025 summer2026 winter2024 winter2025
  winter2026 spring2024 spring2025 spring2026 autumn2024 autumn2025 autumn2026 company123 postern123 unknown123 testtest12
  test123456 test1234567 testing123 testing1234 temp123456 default123 guest12345 user123456 pokemon123 minecraft1 minecraft123`
    .split(/\s+/)
    .map(fold),
);

/** Returns whether a password is one of those that attackers try first. Ignores case. */
export const isCommonPassword = (password: string) => commonPasswords.has(fold(password));
