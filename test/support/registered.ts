import { expect } from 'vitest'
import { freePort } from '../../media/testing/free-ports.ts'
import { Carrier } from './carrier.ts'
import { digestAnswer } from './digest.ts'
import type { Gateway } from './gateway.ts'
import { SipSocket, statusOf } from './sip-socket.ts'
import { headerOf } from './sip-text.ts'

/**
 * Registers a telephone at `pbx.test` with the address of its listener. It stays registered, and hangs up on
 * {@link Carrier.goesOn}. `timeoutMs`: as that of SIPp.
 */
export const registeredPhone = async (
  gateway: Gateway,
  username: string,
  password: string,
  options: { readonly timeoutMs?: number } = {},
): Promise<Carrier> => {
  const port = await freePort()
  const socket = await SipSocket.udp(gateway.sipPort, '127.0.0.1', port)
  const contact = `sip:${username}@127.0.0.1:${port}`
  const uri = 'sip:pbx.test'
  const to = `sip:${username}@pbx.test`
  const register = { method: 'REGISTER', uri, to, contact, callId: contact }
  const asked = await socket.ask(register)
  expect(statusOf(asked)).toBe(401)
  const signed = { ...register, username, password }
  const answer = digestAnswer(headerOf(asked, 'WWW-Authenticate') ?? '', signed)
  const taken = await socket.ask({ ...register, cseq: '2', headers: [`Authorization: ${answer}`] })
  expect(statusOf(taken)).toBe(200)
  expect(headerOf(taken, 'Contact')).toContain(contact)
  socket.close()
  return Carrier.listens({ ...options, scenario: 'callee-hangs-up', holdMs: 'manual', port })
}
