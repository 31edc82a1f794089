import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { settle } from '../../../calls/testing/calls-fixture.ts'
import { RecordingRig } from '../../../recordings/testing/fake-recorder.ts'
import { asProject, CompatTestSite, ours, theirs } from '../../testing/compat-test-site.ts'

const recording = new RecordingRig()
let rig: CompatTestSite

beforeEach(async () => {
  rig = await CompatTestSite.open(recording, await recording.open())
})

const form = 'application/x-www-form-urlencoded'
const send = (payload: string, type: string = form) =>
  rig.site.inject({
    method: 'POST',
    url: `/2010-04-01/Accounts/${ours}/Calls.json`,
    headers: { ...asProject(), 'content-type': type },
    payload,
  })
const least = 'To=%2B15550001&From=%2B15550002&Url=https%3A%2F%2Fa.example%2F'

describe('another project', () => {
  it('finds no object of the first project, and cannot see its account', async () => {
    const row = rig.calls.add({ status: 'completed', endedAt: 1 })
    const recordings = await recording.recorded(await recording.open(), 100, { projectId: ours })
    const caller = rig.rooms.caller(ours)
    void rig.conferences.join(caller.call, caller.control, { name: 'sales' })
    const waiting = rig.rooms.caller(ours)
    void rig.queues.enter(waiting.call, waiting.control, { name: 'support' })
    await settle()
    const [conference] = await rig.conferences.of(ours)
    const [queue] = rig.queues.of(ours)
    const bin = (await rig.ask('POST', '/LamlBins', { Name: 'x', Contents: '<Response/>' })).json()
    const paths = [
      `/Calls/${row.id}`,
      `/Calls/${row.id}/Recordings`,
      `/Recordings/${recordings}`,
      `/Recordings/${recordings}.wav`,
      `/Conferences/${conference?.id}`,
      `/Queues/${queue?.id}`,
      `/Conferences/${conference?.id}/Participants/${caller.call.id}`,
      `/LamlBins/${bin.sid}`,
      `/Queues/${queue?.id}/Members/Front`,
      `/Conferences/${conference?.id}/Participants`,
    ]
    for (const path of paths) {
      expect((await rig.ask('GET', path)).statusCode, path).toBe(200)
      for (const as of [{ project: theirs }, { project: theirs, account: ours }]) {
        const answer = await rig.ask('GET', path, undefined, as)
        expect([path, answer.statusCode, answer.json().code]).toEqual([path, 404, 20404])
      }
    }
    for (const list of ['Calls', 'Recordings', 'Conferences', 'Queues', 'LamlBins', 'Applications']) {
      const page = (await rig.ask('GET', `/${list}`, undefined, { project: theirs })).json()
      expect(Object.values(page).filter(Array.isArray)).toEqual([[]])
    }
    const writes = [`/Calls/${row.id}`, `/Recordings/${recordings}`, `/LamlBins/${bin.sid}`]
    for (const path of writes)
      expect((await rig.ask('DELETE', path, undefined, { project: theirs })).statusCode).toBe(404)
    const form = `To=%2B1&From=x&ApplicationSid=${bin.sid}`
    const borrowed = await rig.ask('POST', '/Calls', form, { project: theirs })
    expect(borrowed.json().code).toBe(21218)
  })

  it('cannot continue a list with the page token of another project or another list', async () => {
    for (let i = 0; i < 3; i++) rig.calls.add()
    const { next_page_uri: next } = (await rig.ask('GET', '/Calls.json?PageSize=1')).json()
    const query = new URL(next, 'https://gw.example').search
    expect((await rig.ask('GET', `/Calls${query}`)).statusCode).toBe(200)
    const foreign = await rig.ask('GET', `/Calls${query}`, undefined, { project: theirs })
    const other = await rig.ask('GET', `/Recordings${query}`)
    expect([foreign, other].map((answer) => [answer.statusCode, answer.json().code])).toEqual([
      [400, 10000],
      [400, 10000],
    ])
  })
})

describe('an invalid request', () => {
  it('without credentials gets 401 on any path', async () => {
    for (const path of [`/Accounts/${ours}/Calls.json`, `/Accounts/${theirs}`, `/Accounts/x/Calls/1`]) {
      const answer = await rig.site.inject({ url: `/2010-04-01${path}` })
      expect([answer.statusCode, answer.json()]).toMatchObject([401, { code: 20003, status: 401 }])
      expect(answer.headers['www-authenticate']).toContain('Basic')
    }
  })

  it.each([
    ['JSON', '{"To":"+1"}', 'application/json', 415],
    ['no type', 'To=1', 'text/plain', 415],
    ['a body that is too large', `Twiml=${'x'.repeat(300_000)}`, form, 413],
  ])('is rejected: %s', async (_, payload, type, status) => {
    const answer = await send(payload, type)
    expect([answer.statusCode, answer.json()]).toMatchObject([status, { status, code: 10000 }])
  })

  it.each([
    ['the same key twice', `${least}&To=%2B15550003`, 21211],
    ['another project', `${least}&AccountSid=${theirs}`, 10000],
    ['a prototype', `${least}&__proto__=1&constructor=2`, 10000],
    ['many parameters', `${least}&${Array.from({ length: 2_000 }, (_, i) => `p${i}=1`).join('&')}`, 10000],
  ])('is rejected: %s', async (_, payload, code) => {
    const answer = await send(payload)
    expect([answer.statusCode, answer.json().code, rig.calls.orders]).toEqual([400, code, []])
  })

  it('has text values, whatever they look like', async () => {
    const odd = "x' OR '1'='1'; DROP TABLE call; --"
    const answers = [
      await rig.ask(
        'GET',
        `/Calls?${new URLSearchParams({ To: odd, From: odd, ParentCallSid: odd.slice(0, 20) })}`,
      ),
      await rig.ask('GET', `/Recordings?${new URLSearchParams({ CallSid: odd })}`),
      await rig.ask('GET', `/Conferences?${new URLSearchParams({ FriendlyName: odd })}`),
      await rig.ask('GET', `/Applications?${new URLSearchParams({ FriendlyName: odd })}`),
    ]
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200])
    const ids = [odd, '../..', '1', `${randomUUID()}'`, 'Front', '%00']
    for (const id of ids)
      for (const kind of ['Calls', 'Recordings', 'Conferences', 'Queues', 'Applications', 'LamlBins']) {
        const answer = await rig.ask('GET', `/${kind}/${id.startsWith('%') ? id : encodeURIComponent(id)}`)
        expect([kind, id, answer.statusCode]).toEqual([kind, id, 404])
      }
  })

  it('for an unsupported resource gets an error in the family’s form', async () => {
    for (const path of ['Messages.json', 'IncomingPhoneNumbers', 'Faxes', 'tokens', 'Balance.json']) {
      const answer = await rig.ask('GET', `/${path}`)
      expect([answer.statusCode, answer.json()]).toMatchObject([404, { code: 20404, status: 404 }])
    }
  })
})
