import { expect } from 'vitest'
import type { Call } from '../call.ts'
import { Client } from '../client.ts'
import type { Json } from '../frames.ts'
import type { Invite } from '../invite.ts'
import type { CallOptions } from '../types.ts'
import { offerOf } from './descriptions.ts'
import { FakeBrowser, settled } from './fakes.ts'

/** Returns a connected client whose incoming calls are added to `invites`. */
export const setUp = async (extra: { ice_servers?: RTCIceServer[] } = {}) => {
  const browser = new FakeBrowser()
  const invites: Invite[] = []
  const client = new Client(
    {
      token: 't',
      userVariables: { plan: 1 },
      incomingCallHandlers: { all: ({ invite }) => invites.push(invite) },
    },
    browser.environment,
  )
  const connecting = client.connect()
  browser.socket.welcome('signalwire_j_1_p', extra)
  await connecting
  return { browser, client, invites }
}

/** Params of `call.joined` for a call whose only reported member is the own one. */
export const joined = (id: string) => ({
  call_id: id,
  origin_call_id: id,
  member_id: 'm1',
  room_session: { members: [{ member_id: 'm1', call_id: id, node_id: 'n1' }] },
})

/** Returns a dialled call before the server's first answer. */
export const dialled = async (client: Client, options: CallOptions = {}) => {
  const call = await client.dial({ to: '/public/bob?channel=audio', ...options })
  const started = call.start()
  started.catch(() => {})
  await settled()
  return { call, started }
}

/** Returns a call that was dialled, answered and joined. */
export const answered = async (
  browser: FakeBrowser,
  client: Client,
  options: CallOptions = {},
  room: Json = {},
): Promise<Call> => {
  const { call, started } = await dialled(client, options)
  browser.socket.reply('verto.invite', {
    node_id: 'n1',
    code: '200',
    result: { jsonrpc: '2.0', id: 1, result: {} },
  })
  browser.socket.event('call.joined', { ...joined(call.id), ...room })
  browser.socket.verto('verto.answer', { callID: call.id, sdp: 'their answer' })
  await started
  return call
}

/** Sends the server's invite of a call. */
export const incoming = (browser: FakeBrowser, callID = 'c9', sdp = offerOf('audio'), more = {}): void =>
  browser.socket.verto('verto.invite', {
    callID,
    sdp,
    caller_id_name: 'Carrier Caller',
    caller_id_number: '+15551230001',
    callee_id_name: 'Alice',
    callee_id_number: '/private/alice',
    display_direction: 'inbound',
    ...more,
  })

/** Checks that all resources of calls are released. */
export const released = (browser: FakeBrowser) => {
  expect(browser.peers.every(({ closed }) => closed)).toBe(true)
  expect(browser.players.every(({ removed }) => removed)).toBe(true)
  expect(browser.microphones.flatMap(({ tracks }) => tracks).every(({ stopped }) => stopped)).toBe(true)
}
