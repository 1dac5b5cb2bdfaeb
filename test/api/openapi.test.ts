import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv } from 'ajv';
import { operations } from '../../src/features/operations.ts';
import { type Json, startPostern } from '../start.ts';

/** Operations and fields that the description must contain, by method and name. */
const contract: Record<string, readonly string[]> = {
  'post accessuser/update': ['id', 'authId', 'firstName', 'lastName', 'email', 'active'],
  'post accessuser/updateUserPassword': ['username', 'userPassword', 'confirmPassword', 'authId', 'currentPassword'],
  'post accessuser/add': ['username', 'active', 'firstName', 'lastName', 'email', 'authId'],
  'delete accessuser/delete': ['id'],
  'delete accessuser/deleteByUsername': ['username', 'loginProfileId'],
  'get accessuser/search': ['searchWord', 'authId', 'startIndex', 'pageSize', 'fromDate', 'toDate', 'sortField', 'sortOrder'],
  'post share/add': [
    'title',
    'location',
    'path',
    'authenticationId',
    'alertDelete',
    'userNames',
    'notifyEmails',
    'validityStartDate',
    'validityEndDate',
    'groupNames',
  ],
  'post share/update': ['id', 'title', 'authenticationId', 'canView', 'alertRename', 'userNames', 'digitalSignature'],
  'post share/updateSharableLink': ['id', 'viewId'],
  'post share/get': ['id'],
  'post share/duplicate': ['id', 'title'],
  'delete share/delete': ['id'],
  'get share/search': [
    'searchWord',
    'path',
    'authType',
    'authId',
    'startIndex',
    'pageSize',
    'fromDate',
    'toDate',
    'sortField',
    'sortOrder',
  ],
  'post loginprofile/update': [
    'id',
    'title',
    'description',
    'ipRange',
    'typeId',
    'userCount',
    'viewId',
    'username',
    'password',
    'lang',
    'startupMessage',
    'configuration',
  ],
  'post loginprofile/updateViewId': ['id', 'viewId'],
  'post loginprofile/get': ['id'],
  'post loginprofile/duplicate': ['id', 'title'],
  'post loginprofile/add': [
    'title',
    'description',
    'ipRange',
    'typeId',
    'userCount',
    'username',
    'password',
    'lang',
    'startupMessage',
    'configuration',
  ],
  'delete loginprofile/delete': ['id'],
  'get loginprofile/search': ['searchWord', 'typeId', 'startIndex', 'pageSize', 'fromDate', 'toDate', 'sortField', 'sortOrder', 'details'],
};
const operationNames = [...operations.map(({ name }) => name), 'login'];

test('/openapi.json is a valid OpenAPI document, and needs no key', async (t) => {
  const postern = await startPostern(t);
  const answer = await postern.visit('/openapi.json');
  assert.equal(answer.status, 200);
  const { valid, errors } = await new Validator().validate(answer.body);
  assert.ok(valid, JSON.stringify(errors));
});

test('/openapi.json describes every operation, and all fields that the contract of this test lists', async (t) => {
  const postern = await startPostern(t);
  const { paths } = (await postern.visit('/openapi.json')).body;
  for (const [operation, fields] of Object.entries(contract)) {
    const [method = '', name = ''] = operation.split(' ');
    const description = paths[`/api/v1/${name}`]?.[method];
    assert.ok(description, operation);
    const fieldNames =
      method === 'get'
        ? description.parameters.map((parameter: { name?: string }) => parameter.name)
        : Object.keys(description.requestBody.content['application/json'].schema.properties);
    for (const field of fields) assert.ok(fieldNames.includes(field), `${operation}: ${field}`);
  }
  for (const name of operationNames) assert.ok(paths[`/api/v1/${name}`], name);
});

test('/openapi.json marks the fields that a request must contain as required', async (t) => {
  const postern = await startPostern(t);
  const { paths } = (await postern.visit('/openapi.json')).body;
  const requiredFields = (name: string, method = 'post') =>
    [...(paths[`/api/v1/${name}`][method].requestBody.content['application/json'].schema.required ?? [])].sort();
  assert.deepEqual(requiredFields('accessuser/update'), ['authId', 'id']);
  assert.deepEqual(requiredFields('accessuser/deleteByUsername', 'delete'), ['loginProfileId', 'username']);
  assert.deepEqual(requiredFields('share/duplicate'), ['id', 'title']);
  assert.equal(requiredFields('share/add').length, 17);
  assert.equal(requiredFields('share/update').length, 14);
  assert.deepEqual(requiredFields('loginprofile/add'), []);
});

test('/openapi.json has unique operationIds, schemas, valid examples of request bodies, and examples of link and portal responses', async (t) => {
  const postern = await startPostern(t);
  const { paths, components } = (await postern.visit('/openapi.json')).body;
  const operations = Object.values<Json>(paths).flatMap((path) => Object.values<Json>(path));
  const ids = operations.map(({ operationId }) => operationId);
  assert.deepEqual(ids.toSorted(), [...new Set(ids)].sort());
  for (const name of [
    'Share',
    'AccessUser',
    'LoginProfile',
    'Location',
    'ApiKey',
    'AuditEntry',
    'Operator',
    'Tenant',
    'Problem',
    'Success',
  ])
    assert.ok(components.schemas[name]?.properties, name);
  const responseSchema = (path: string, method: string) => paths[path][method].responses['200'].content['application/json'].schema.$ref;
  assert.equal(responseSchema('/api/v1/share/get', 'post'), '#/components/schemas/Share');
  assert.equal(components.schemas.ShareSearchResponse.properties.list.items.$ref, '#/components/schemas/Share');
  assert.equal(responseSchema('/s/{viewId}/visit', 'get'), '#/components/schemas/Visit');
  const ajv = new Ajv({ strict: false, formats: { 'date-time': true } });
  for (const { operationId, requestBody, responses } of operations) {
    const body = requestBody?.content['application/json'];
    if (body) assert.ok(ajv.validate(body.schema, body.example), `${operationId}: ${ajv.errorsText()}`);
    if (!operationId.startsWith('link_') && !operationId.startsWith('portal_')) continue;
    for (const { content } of Object.values<Json>(responses)) {
      const response = content?.['application/json'];
      if (response) assert.ok(response.example, `${operationId} has no example of its response`);
    }
  }
});

test('/openapi.json describes that a download may be redirected to the storage', async (t) => {
  const postern = await startPostern(t);
  const { paths } = (await postern.visit('/openapi.json')).body;
  const { responses } = paths['/s/{viewId}/file/{path}'].get;
  assert.deepEqual(Object.keys(responses), ['200', '206', '302', '304', 'default']);
  assert.ok(responses['302'].headers.Location);
});

test('/docs serves an HTML page, and its script can be loaded', async (t) => {
  const postern = await startPostern(t);
  const response = await fetch(`${postern.apiUrl}/docs`);
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type') ?? '', /^text\/html/);
  const [, script = ''] = /<script src="([^"]+)"/.exec(await response.text()) ?? [];
  assert.equal((await fetch(new URL(script, response.url))).status, 200, script);
});

test('/openapi.json and the files of /docs support ETag, gzip and HEAD requests', async (t) => {
  const postern = await startPostern(t);
  for (const path of ['/openapi.json', '/docs', '/docs/js/scalar.js']) {
    const url = `${postern.apiUrl}${path}`;
    const plainResponse = await fetch(url, { headers: { 'accept-encoding': 'identity' } });
    const compressedResponse = await fetch(url, { headers: { 'accept-encoding': 'gzip' } });
    assert.equal(compressedResponse.headers.get('content-encoding'), 'gzip', path);
    assert.equal(plainResponse.headers.get('content-encoding'), null, path);
    const withoutGzip = await fetch(url, { headers: { 'accept-encoding': 'gzip;q=0' } });
    assert.equal(withoutGzip.headers.get('content-encoding'), null, path);
    await withoutGzip.arrayBuffer();
    assert.equal(await compressedResponse.text(), await plainResponse.text());
    const conditionalResponse = await fetch(url, {
      headers: { 'accept-encoding': 'identity', 'if-none-match': plainResponse.headers.get('etag') ?? '' },
    });
    assert.equal(conditionalResponse.status, 304, path);
    const head = await fetch(url, { method: 'HEAD', headers: { 'accept-encoding': 'identity' } });
    assert.equal(head.headers.get('content-length'), plainResponse.headers.get('content-length'), path);
  }
  assert.equal((await fetch(`${postern.apiUrl}/docs/none`)).status, 404);
});

test('different percent-encodings of the path of a docs file share one cached copy', async (t) => {
  const postern = await startPostern(t);
  const path = 'js/scalar.js';
  const encodedPath = (number: number) =>
    [...path].map((letter, index) => (letter !== '/' && (number >> index) & 1 ? `%${letter.charCodeAt(0).toString(16)}` : letter));
  const etagOf = async (name: string) => {
    const answer = await fetch(`${postern.apiUrl}/docs/${name}`, { method: 'HEAD' });
    assert.equal(answer.status, 200, name);
    return answer.headers.get('etag');
  };
  const etag = await etagOf(path);
  const before = process.memoryUsage().arrayBuffers;
  for (let number = 1; number < 12; number += 1) assert.equal(await etagOf(encodedPath(number).join('')), etag);
  assert.ok(process.memoryUsage().arrayBuffers - before < 8 << 20, `${process.memoryUsage().arrayBuffers - before} bytes more`);
  for (const other of ['js%2Fscalar.js', 'js/scalar.js%3Fx', 'js/scalar.js%23x', 'js//scalar.js', 'JS/scalar.js'])
    assert.equal((await fetch(`${postern.apiUrl}/docs/${other}`)).status, 404, other);
  assert.equal((await fetch(`${postern.apiUrl}/docs/%ff`)).status, 400);
});
