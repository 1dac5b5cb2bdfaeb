// The reference of S3 locations: the AWS SDK between node:http and a bucket.
// Arguments: the configuration of a location in the bucket as JSON, and the bytes of a part.
// GET sends an object, PUT stores one by lib-storage, and SEARCH lists all objects with a prefix.
import { createServer } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';

const { endpoint, region, bucket: Bucket, accessKeyId, secretAccessKey } = JSON.parse(process.argv[2]);
const client = new S3Client({ endpoint, region, forcePathStyle: true, credentials: { accessKeyId, secretAccessKey } });

/** Lists all objects below a prefix. @returns their number */
async function countObjects(Prefix) {
  let [count, ContinuationToken] = [0, undefined];
  do {
    const page = await client.send(new ListObjectsV2Command({ Bucket, Prefix, ContinuationToken }));
    count += page.KeyCount;
    ContinuationToken = page.NextContinuationToken;
  } while (ContinuationToken);
  return count;
}

async function respond(request, response) {
  const Key = request.url.slice(1);
  if (request.method === 'GET') {
    const { Body, ContentLength } = await client.send(new GetObjectCommand({ Bucket, Key }));
    response.writeHead(200, { 'content-length': ContentLength });
    await pipeline(Body, response);
  } else if (request.method === 'SEARCH') response.end(`${await countObjects(Key)}`);
  else if (request.method === 'DELETE') {
    await client.send(new DeleteObjectCommand({ Bucket, Key }));
    response.end();
  } else {
    await new Upload({ client, params: { Bucket, Key, Body: request }, partSize: Number(process.argv[3]) }).done();
    response.writeHead(201).end();
  }
}

const server = createServer((request, response) => void respond(request, response).catch(() => response.destroy()));
server.listen(0, '127.0.0.1', () => console.log(`ready ${server.address().port}`));
