import { Peer } from '@trunkline/sip-agent/testing/peer'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { setUp } from '../calls/testing/calls-fixture.ts'
import { carrierSdp } from './testing/bench.ts'
import { agent, boundMs, confirmed, delivered, Misbehaving, patience } from './testing/misbehaving.ts'

// misbehaving-agent.test.ts tests the edge alone; this file tests whole calls through it.

let t: Misbehaving
let rig: ReturnType<typeof setUp>
let callees: Peer[]
beforeEach(async () => {
  rig = setUp({ sip: { dial: (target, request) => t.carrier.bench.sip.dial(target, request) } })
  t = await Misbehaving.start({
    clock: rig.clock,
    parts: { arrivals: { arrive: (arrival) => rig.calls.arrive(arrival) } },
  })
  callees = [await Peer.udp(), await Peer.udp()]
  // Every caller is connected with the first of two callees that answers.
  rig.script(async (call) => {
    const steps = [callees.map(({ port }) => ({ to: `sip:1@127.0.0.1:${port}` }))]
    await call.connect({ steps, answerOnBridge: true })
  })
})
afterEach(async () => {
  for (const callee of callees) callee.close()
  await t.close()
})

/** Gauges of calls, which must return to zero. */
const gauges = () => {
  const { sip, edge } = t.carrier.bench
  return {
    calls: rig.calls.count,
    legs: rig.calls.legs,
    bridges: rig.bridges.count,
    dialogs: sip.legs,
    ports: edge.used,
    timers: rig.clock.running,
  }
}
const nothing = { calls: 0, legs: 0, bridges: 0, dialogs: 0, ports: 0, timers: 0 }

/** Places a call whose two callees ring. */
const ringing = async () => {
  const { call, branch } = t.carrier.invite()
  const invites = await Promise.all(callees.map((callee) => callee.request('INVITE')))
  callees.forEach((callee, i) => {
    callee.reply(invites[i]!, 180)
  })
  await t.peer.response(180)
  return { call, branch, invites }
}

/** The first callee has answered, the second one was given up, and the caller talks. */
const talking = async () => {
  const { call, invites } = await ringing()
  const [first, second] = callees
  first!.reply(invites[0]!, 200, { body: carrierSdp() })
  second!.reply(await second!.request('CANCEL'), 200)
  second!.reply(invites[1]!, 487)
  const to = (await t.peer.response(200, 'INVITE')).headers.first('to') ?? ''
  t.peer.send('ACK', call, { to })
  await t.said('ACK')
  await expect.poll(() => gauges().bridges, patience).toBe(1)
  call.seq++
  return { call, to, first: first! }
}

it.each<readonly [string, Parameters<typeof agent>[0], () => Promise<void>]>([
  [
    'never tells of the CANCEL of the caller, nor of the ends of the INVITEs',
    delivered('CANCEL', '487 INVITE'),
    async () => {
      const { call, branch, invites } = await ringing()
      t.peer.send('CANCEL', call, { branch })
      await t.said('CANCEL')
      // A callee that rings for too long is given up.
      await t.passes(60_000)
      for (const [i, callee] of callees.entries()) {
        callee.reply(await callee.request('CANCEL'), 200)
        callee.reply(invites[i]!, 487)
      }
    },
  ],
  [
    'never tells of the ends of the INVITEs, once the caller has given up',
    delivered('487 INVITE'),
    async () => {
      const { call, branch, invites } = await ringing()
      t.peer.send('CANCEL', call, { branch })
      for (const [i, callee] of callees.entries()) {
        callee.reply(await callee.request('CANCEL'), 200)
        callee.reply(invites[i]!, 487)
      }
    },
  ],
  [
    'never tells of the BYE of the callee',
    delivered('BYE'),
    async () => {
      const { call, to, first } = await talking()
      t.peer.send('BYE', call, { to })
      await t.said('BYE')
      // The audio has fallen silent on both legs.
      for (const port of t.carrier.bench.edge.ports)
        if (!port.closed) port.report({ kind: 'timeout', phase: 'media' })
      first.reply(await first.request('BYE'), 200)
    },
  ],
  [
    'says nothing of our BYE to the callee',
    (frame) => delivered('200 BYE')(frame) || confirmed('BYE')(frame),
    async () => {
      const { call, to, first } = await talking()
      t.peer.send('BYE', call, { to })
      await t.peer.response(200, 'BYE')
      first.reply(await first.request('BYE'), 200)
    },
  ],
  [
    'never says that the answer to the caller went out',
    confirmed('200 INVITE'),
    async () => {
      const { invites } = await ringing()
      callees[0]!.reply(invites[0]!, 200, { body: carrierSdp() })
      await t.peer.response(200, 'INVITE')
    },
  ],
])('an agent that %s leaves no call behind', async (_name, loses, play) => {
  t.relay.rule = agent(loses)
  await play()
  await t.passes(boundMs)
  await expect.poll(gauges, patience).toEqual(nothing)
})

it('a lost connection to the agent leaves no call open', async () => {
  await talking()
  t.relay.cut()
  const { logged } = t.carrier.bench
  await expect.poll(() => logged.some(({ msg }) => msg === 'SIP agent: connection lost'), patience).toBe(true)
  await t.passes(boundMs)
  await expect.poll(gauges, patience).toEqual(nothing)
})
