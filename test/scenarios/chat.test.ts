/**
 * Conversations of browsers, over REST and by WebSocket events, with the frames of the published SDK 3.27 to
 * 3.29.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { type AnyFrame, TestBrowser } from '../../gateway/rpc/testing/test-browser.ts'
import { alice, Gateway } from '../support/gateway.ts'
import { apiToken } from '../support/recorded.ts'
import { rest } from '../support/rest.ts'

let gateway: Gateway
let dataDir: string

const start = (): Promise<Gateway> => Gateway.start({ http: { apiToken }, dataDir })

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'chat-'))
  gateway = await start()
})

afterAll(async () => {
  await gateway?.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

interface Person {
  readonly token: string
  readonly addressId: string
}

const ask = (path: string, token: string, body?: object) =>
  rest(gateway, body ? 'POST' : 'GET', path, body, `Bearer ${token}`)

const person = async (reference: string): Promise<Person> => {
  const { token } = (await rest(gateway, 'POST', '/api/fabric/subscribers/tokens', { reference })).body
  const { fabric_addresses } = (await ask('/api/fabric/subscriber/info', token)).body
  return { token, addressId: fabric_addresses[0].id }
}

/** Connects a page that only chats, so it does not go online for calls. */
const page = async (token: string): Promise<TestBrowser> => {
  const browser = await TestBrowser.open(gateway.httpPort)
  onTestFinished(() => browser.close())
  const params = {
    version: { major: 4, minor: 0, revision: 0 },
    event_acks: true,
    agent: '@signalwire/js/browser/3.29.0',
    authentication: { jwt_token: token },
  }
  const { result } = await browser.send('signalwire.connect', params)
  expect(result).toHaveProperty('authorization.jti')
  return browser
}

const received = async (browser: TestBrowser): Promise<AnyFrame> => {
  const isMessage = (frame: AnyFrame) => (frame.params as AnyFrame)?.event_type === 'conversation.message'
  return ((await browser.frame(isMessage)).params as AnyFrame).params as AnyFrame
}

const textsOf = async ({ token }: Person, id: string): Promise<string[]> => {
  const { status, body } = await ask(`/api/fabric/conversations/${id}/messages?page_size=10`, token)
  expect(status).toBe(200)
  return body.data.map(({ text }: { text: string }) => text)
}

it('two subscribers write to each other: every page receives the message, and history survives a restart of the gateway', async () => {
  const first = await person(alice.email)
  const second = await person('nora@example.test')
  const pages = [await page(first.token), await page(first.token), await page(second.token)]
  const message = { conversation_id: second.addressId, text: 'Good morning' }
  const sent = await ask('/api/fabric/messages', first.token, message)
  expect([sent.status, sent.body.table]).toEqual([201, message])
  const [own, also, theirs] = await Promise.all(pages.map(received))
  expect(own).toMatchObject({ ...message, from_address_id: first.addressId, subtype: 'chat' })
  expect(also).toEqual(own)
  expect(theirs).toMatchObject({ id: own?.id, conversation_id: first.addressId, user_name: own?.user_name })
  await pages[2]?.close()
  await ask('/api/fabric/messages', first.token, { group_id: own?.group_id, text: 'Are you there?' })
  const both = ['Are you there?', 'Good morning']
  expect(await textsOf(second, first.addressId)).toEqual(both)
  await gateway.stop()
  gateway = await start()
  expect(await textsOf(second, first.addressId)).toEqual(both)
  const again = await page(second.token)
  await ask('/api/fabric/messages', first.token, { ...message, text: 'Hello again' })
  expect((await received(again)).text).toBe('Hello again')
})

it('a guest in a room receives and reads only messages sent after joining, and cannot write to a subscriber', async () => {
  const host = await person('host@example.test')
  const rooms = '/api/fabric/resources/conference_rooms'
  const { id } = (await rest(gateway, 'POST', rooms, { name: 'lobby' })).body
  const [address] = (await rest(gateway, 'GET', `/api/fabric/resources/${id}/addresses`)).body.data
  const say = (token: string, text: string) =>
    ask('/api/fabric/messages', token, { conversation_id: address.id, text })
  await say(host.token, 'before')
  const guests = '/api/fabric/guests/tokens'
  const { token } = (await rest(gateway, 'POST', guests, { allowed_addresses: [address.id] })).body
  const browser = await page(token)
  const joined = await ask('/api/fabric/conversations/join', token, { fabric_address_ids: [address.id] })
  expect([joined.status, joined.body.table]).toEqual([200, { conversation_id: address.id }])
  await say(host.token, 'welcome')
  expect(await received(browser)).toMatchObject({ text: 'welcome', group_id: joined.body.group_id })
  expect(await textsOf({ token, addressId: '' }, joined.body.group_id)).toEqual(['welcome'])
  await say(token, 'thank you')
  expect(await textsOf(host, address.id)).toEqual(['thank you', 'welcome', 'before'])
  expect(
    (await ask('/api/fabric/messages', token, { conversation_id: host.addressId, text: 'x' })).status,
  ).toBe(404)
})
