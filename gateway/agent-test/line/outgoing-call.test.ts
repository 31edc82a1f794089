import { expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { FakeDialog, FakeRequest, FakeSrf, refusalOf } from '../../sip/testing/fake-srf.ts'
import { OutgoingCall } from './outgoing-call.ts'

/** Sends an INVITE to a fake of drachtio-srf. */
const ring = () => {
  const clock = new FakeClock()
  const srf = new FakeSrf()
  const call = new OutgoingCall(clock)
  const answer = call.invite(srf, 'sip:agent@far.example', { headers: {} })
  const failure = answer.then(
    () => 'none',
    (error: Error) => `${error.name}: ${error.message}`,
  )
  const [invite] = srf.invites
  const request = new FakeRequest('INVITE', 'sip:agent@far.example')
  return { clock, call, answer, failure, settle: invite!.settle, sent: invite!.progress.cbRequest, request }
}

const dialogOf = () => new FakeDialog('v=0')

const isSettled = async (promise: Promise<unknown>): Promise<boolean> => {
  const later = new Promise((resolve) => setImmediate(() => resolve(false)))
  return (await Promise.race([promise.then(() => true), later])) === true
}

it('hangs up an answered call once, and waits for the response', async () => {
  const { clock, call, answer, settle } = ring()
  const dialog = dialogOf()
  settle(null, dialog)
  expect(await answer).toBe(dialog)
  const ends = [call.end(), call.end()]
  expect(dialog.byes).toHaveLength(1)
  expect(await isSettled(call.ended)).toBe(true)
  expect(await isSettled(ends[0]!)).toBe(false)
  dialog.byes[0]!()
  await Promise.all(ends)
  expect(clock.running).toBe(0)
})

it('has ended when the far side hangs up, and sends no BYE then', async () => {
  const { call, settle } = ring()
  const dialog = dialogOf()
  settle(null, dialog)
  dialog.emit('destroy')
  await call.ended
  await call.end()
  expect(dialog.byes).toEqual([])
})

it('waits 3 s for a far side that does not respond', async () => {
  const { clock, call, settle } = ring()
  settle(null, dialogOf())
  const end = call.end()
  clock.advance(2999)
  expect(await isSettled(end)).toBe(false)
  clock.advance(1)
  await end
})

it('cancels a call that is not answered, and waits for the final response', async () => {
  const { clock, call, failure, settle, sent, request } = ring()
  sent(null, request)
  const end = call.end()
  expect(request.canceled).toBe(1)
  expect(await failure).toBe('CallRefused: was ended by the test')
  expect(await isSettled(end)).toBe(false)
  settle(refusalOf(487))
  await end
  expect(clock.running).toBe(0)
})

it('cancels as soon as the INVITE is sent', () => {
  const { call, sent, request } = ring()
  void call.end()
  sent(null, request)
  expect(request.canceled).toBe(1)
})

it('hangs up an answer that crosses the CANCEL', async () => {
  const { call, failure, settle, sent, request } = ring()
  sent(null, request)
  const end = call.end()
  const dialog = dialogOf()
  settle(null, dialog)
  expect(dialog.byes).toHaveLength(1)
  dialog.byes[0]!()
  await end
  expect(await failure).toMatch(/^CallRefused/)
})

it('gives up after 60 s, and hangs up an answer that comes later still', async () => {
  const { clock, failure, settle, sent, request } = ring()
  sent(null, request)
  clock.advance(60_000)
  expect(await failure).toBe('CallRefused: was not answered within 60 s')
  expect(request.canceled).toBe(1)
  clock.advance(10_000)
  const dialog = dialogOf()
  settle(null, dialog)
  expect(dialog.byes).toHaveLength(1)
})

it('is refused with the status of the far side, or without a connection', async () => {
  const { failure, settle } = ring()
  settle(refusalOf(486))
  expect(await failure).toBe('CallRefused: was refused with 486 Reason')
  const srf = new FakeSrf()
  srf.broken = new Error('no connection')
  const broken = new OutgoingCall(new FakeClock())
  await expect(broken.invite(srf, 'sip:a@b.example', { headers: {} })).rejects.toThrow('no connection')
  await broken.gone
})
