import { Peer, testSdp } from '@trunkline/sip-agent/testing/peer'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { CallerPhones } from './caller-phones.ts'

let far: Peer
let clock: FakeClock
let phones: CallerPhones

beforeEach(async () => {
  far = await Peer.udp()
  clock = new FakeClock()
  phones = await CallerPhones.open({ uri: far.uri }, clock)
})

afterEach(async () => {
  const closed = phones.close()
  clock.advance(3000)
  await closed
  far.close()
})

const call = () => phones.call({ uri: far.uri }, { from: 'ann', mediaPort: 4002 })

it('hangs up every answered call, and makes no other', async () => {
  const calls = [call(), call()]
  for (const _ of calls) far.reply(await far.request('INVITE'), 200, { body: testSdp() })
  const [first] = await Promise.all(calls)
  expect(first!.audio).toMatchObject({ host: '127.0.0.1', port: 4000, law: 'PCMU' })
  const ended = phones.endCalls()
  for (const _ of calls) far.reply(await far.request('BYE'), 200)
  await ended
  await first!.ended
  await expect(call()).rejects.toThrow('was not made, as the test ends')
})

it('cancels a call that rings', async () => {
  const outcome = expect(call()).rejects.toThrow('was ended by the test')
  const invite = await far.request('INVITE')
  far.reply(invite, 180)
  const ended = phones.endCalls()
  far.reply(await far.request('CANCEL'), 200)
  far.reply(invite, 487)
  await ended
  await outcome
})

it('hangs up a call whose answer crosses the CANCEL', async () => {
  const outcome = expect(call()).rejects.toThrow('was ended by the test')
  const invite = await far.request('INVITE')
  far.reply(invite, 180)
  const ended = phones.endCalls()
  const cancel = await far.request('CANCEL')
  far.reply(invite, 200, { body: testSdp() })
  far.reply(cancel, 200)
  await far.request('ACK')
  far.reply(await far.request('BYE'), 200)
  await ended
  await outcome
})

it('does not wait for more than 3 s', async () => {
  const calling = call()
  far.reply(await far.request('INVITE'), 200, { body: testSdp() })
  await calling
  const ended = phones.endCalls()
  await far.request('BYE')
  clock.advance(3000)
  await ended
})
