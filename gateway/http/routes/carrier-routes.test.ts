import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Senders } from '../../directory/model/callers.ts'
import { ApiTestSite, health, ours, theirs } from '../testing/api-test-site.ts'

let rig: ApiTestSite
let senders: Senders
beforeAll(async () => {
  rig = await ApiTestSite.open()
  rig.directory.onSenders((present) => {
    senders = present
  })
})
afterAll(() => rig.close())

const path = '/api/fabric/carriers'
const acme = {
  name: 'acme',
  targets: ['sip:gw.acme.example'],
  default: true,
  allow: ['192.0.2.0/24'],
  auth: { username: 'us', password: 'Secret-of-ours' },
  challenge: { username: 'them', password: 'Secret-of-theirs' },
}
const shown = { ...acme, auth: { username: 'us' }, challenge: { username: 'them' } }

it('the log line of a request names the API token by its id', async () => {
  await rig.ask('GET', path)
  const lines = () => rig.lines.map((line) => JSON.parse(line)).filter(({ project }) => project === ours.id)
  await vi.waitFor(() => expect(lines().at(-1)).toMatchObject({ path, apiToken: expect.any(String) }))
  const ids = rig.directory.projects.tokens(ours.id).map(({ id }) => id)
  expect(ids).toContain(lines().at(-1)?.apiToken)
  expect(rig.lines.join('')).not.toContain(ours.apiToken)
})

describe('a carrier', () => {
  it('can be created, used at once, changed and removed; no response contains its passwords', async () => {
    const made = await rig.ask('POST', path, acme)
    expect([made.statusCode, made.json()]).toEqual([
      201,
      {
        ...shown,
        id: expect.any(String),
        project_id: ours.id,
        managed_by: 'api',
        created_at: expect.any(String),
        updated_at: expect.any(String),
        health,
      },
    ])
    const at = `${path}/${made.json().id}`
    expect((await rig.ask('GET', at)).json()).toEqual(made.json())
    expect((await rig.ask('GET', path)).json().data).toEqual([made.json()])
    expect(senders.carriers).toMatchObject([
      {
        name: 'p1/acme',
        project: 'p1',
        guarded: true,
        default: true,
        auth: acme.auth,
        challenge: acme.challenge,
      },
    ])
    const rows = await rig.directory.store.selectFrom('carrier').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain('Secret')
    expect(rig.lines.join('\n')).not.toContain('Secret')
    const next = { ...shown, targets: ['sip:gw2.acme.example'], challenge: { username: 'they' } }
    const refused = await rig.ask('PUT', at, next)
    expect([refused.statusCode, refused.json().errors[0].attribute]).toEqual([422, 'challenge'])
    const changed = await rig.ask('PUT', at, { ...shown, targets: ['sip:gw2.acme.example'] })
    expect([changed.statusCode, changed.json().targets]).toEqual([200, ['sip:gw2.acme.example']])
    expect(senders.carriers).toMatchObject([{ targets: ['sip:gw2.acme.example'], auth: acme.auth }])
    expect((await rig.ask('DELETE', at)).statusCode).toBe(204)
    expect(senders.carriers).toEqual([])
    expect((await rig.ask('GET', at)).statusCode).toBe(404)
  })

  it('belongs to one project, with its name and its default flag', async () => {
    const first = await rig.ask('POST', path, acme)
    const second = await rig.ask('POST', path, acme, theirs)
    expect([first.statusCode, second.statusCode]).toEqual([201, 201])
    expect(senders.carriers.map(({ name }) => name).sort()).toEqual(['p1/acme', 'p2/acme'])
    const at = `${path}/${first.json().id}`
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const answer = await rig.ask(method, at, method === 'PUT' ? acme : undefined, theirs)
      expect([method, answer.statusCode]).toEqual([method, 404])
    }
    for (const [body, attribute, code] of [
      [acme, 'name', 'name_taken'],
      [{ ...acme, name: 'other' }, 'default', 'invalid_field'],
    ] as const) {
      const answer = await rig.ask('POST', path, body)
      expect([answer.statusCode, answer.json().errors[0]]).toMatchObject([422, { attribute, code }])
    }
  })

  it.each([
    [{ name: 'x', targets: [] }, 'targets'],
    [{ name: 'x', targets: ['sip:user@x.example'] }, 'targets[0]'],
    [{ name: 'x', targets: ['sip:x.example'], allow: ['anywhere'] }, 'allow[0]'],
    [{ name: 'x', targets: ['sip:x.example'], tls: { verify: false } }, 'tls'],
    [{ name: 'x', targets: ['sip:x.example'], project: 'p2' }, 'project'],
    [{ name: 'x', targets: ['sip:x.example'], numbers: { allow: ['anywhere'] } }, 'numbers.allow[0]'],
    [
      { name: 'x', targets: ['sip:x.example'], numbers: { allow: ['+1'], refuse: ['+1'] } },
      'numbers.refuse[0]',
    ],
    [{ name: 'x', targets: ['sip:x.example'], guarded: false }, 'guarded'],
    [{ name: 'x', targets: ['sip:x.example'], id: 'mine' }, 'id'],
  ])('is rejected for %j, with the name of the field', async (body, attribute) => {
    const answer = await rig.ask('POST', path, body)
    expect([answer.statusCode, answer.json().errors[0].attribute]).toEqual([422, attribute])
  })
})
