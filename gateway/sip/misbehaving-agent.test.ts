import { afterEach, describe, expect, it } from 'vitest'
import { Trust } from './admission/trust.ts'
import type { Fate, RelayedFrame } from './testing/agent-relay.ts'
import { carrierSdp } from './testing/bench.ts'
import {
  agent,
  boundMs,
  confirmed,
  delivered,
  Misbehaving,
  nothing,
  patience,
} from './testing/misbehaving.ts'

let bench: Misbehaving | undefined
afterEach(async () => {
  await bench?.close()
  bench = undefined
})

type Case = readonly [
  name: string,
  rule: (frame: RelayedFrame) => Fate,
  play: (t: Misbehaving) => Promise<void>,
]

const inbound: readonly Case[] = [
  [
    'never says that the 200 went out',
    agent(confirmed('200 INVITE')),
    async (t) => {
      const { call, to } = await t.answers()
      t.peer.send('ACK', call, { to })
      await t.said('ACK')
    },
  ],
  [
    'never tells of the ACK with the answer to our offer',
    agent(delivered('ACK')),
    async (t) => {
      const { call, to } = await t.answers('')
      t.peer.send('ACK', call, { to, body: carrierSdp() })
      await t.said('ACK')
    },
  ],
  [
    'never tells of the ACK, nor of the end of the BYE that waited for it',
    agent((frame) => delivered('ACK', '200 BYE')(frame) || confirmed('BYE')(frame)),
    async (t) => {
      const { leg } = await t.answers('')
      leg.end({ code: 'normal' })
    },
  ],
  [
    'never tells of the CANCEL, until our refusal finds no transaction',
    agent(delivered('CANCEL')),
    async (t) => {
      const { call, branch, leg } = await t.arrives()
      leg.ring()
      await t.peer.response(180)
      t.peer.send('CANCEL', call, { branch })
      await t.said('CANCEL')
      leg.end({ code: 'no_answer' })
    },
  ],
  [
    'never tells of the CANCEL, until our 200 finds no transaction',
    agent(delivered('CANCEL')),
    async (t) => {
      const { call, branch, leg } = await t.arrives()
      leg.ring()
      await t.peer.response(180)
      t.peer.send('CANCEL', call, { branch })
      await t.said('CANCEL')
      void leg.answer()
      await t.asked('200 INVITE')
    },
  ],
  [
    'never tells of the PRACK that the answer waits for, nor of its lack',
    agent(delivered('PRACK', 'CANCEL')),
    async (t) => {
      const { leg } = await t.arrives(carrierSdp(), { Supported: '100rel' })
      void leg.progress()
      await t.peer.response(183)
      void leg.answer()
    },
  ],
  [
    'never tells of the PRACK of early media that goes on',
    agent(delivered('PRACK', 'CANCEL')),
    async (t) => {
      const { leg } = await t.arrives(carrierSdp(), { Supported: '100rel' })
      void leg.progress()
      await t.peer.response(183)
    },
  ],
  [
    'never tells of the BYE, until the silence of the audio ends the call',
    agent(delivered('BYE')),
    async (t) => {
      const { call, to, leg } = await t.answers()
      t.peer.send('ACK', call, { to })
      await t.said('ACK')
      call.seq++
      t.peer.send('BYE', call, { to })
      await t.said('BYE')
      leg.end({ code: 'media_timeout' })
    },
  ],
  [
    'tells of the BYE twice',
    agent(delivered('BYE'), 'twice'),
    async (t) => {
      const { call, to } = await t.answers()
      t.peer.send('ACK', call, { to })
      await t.said('ACK')
      call.seq++
      t.peer.send('BYE', call, { to })
      await t.peer.response(200, 'BYE')
    },
  ],
  [
    'tells of the ACK only after the BYE',
    agent(delivered('ACK'), 'hold'),
    async (t) => {
      const { call, to } = await t.answers()
      t.peer.send('ACK', call, { to })
      await t.said('ACK')
      call.seq++
      t.peer.send('BYE', call, { to })
      await t.peer.response(200, 'BYE')
      t.relay.release()
    },
  ],
  [
    'never tells of the end of our BYE',
    agent(delivered('200 BYE')),
    async (t) => {
      const { call, to, leg } = await t.answers()
      t.peer.send('ACK', call, { to })
      await t.said('ACK')
      await t.passes(5_000)
      leg.end({ code: 'normal' })
      t.peer.reply(await t.peer.request('BYE'), 200)
      await t.said('200 BYE')
    },
  ],
  [
    'says nothing at all of our BYE',
    agent((frame) => delivered('200 BYE')(frame) || confirmed('BYE')(frame)),
    async (t) => {
      const { call, to, leg } = await t.answers()
      t.peer.send('ACK', call, { to })
      await t.said('ACK')
      await t.passes(5_000)
      leg.end({ code: 'normal' })
      t.peer.reply(await t.peer.request('BYE'), 200)
    },
  ],
  [
    'knows the dialog of our BYE no more',
    agent(confirmed('BYE'), 'drop'),
    async (t) => {
      const { call, to, leg } = await t.answers()
      t.peer.send('ACK', call, { to })
      await t.said('ACK')
      t.relay.rule = (frame) => {
        if (frame.from !== 'application' || frame.sip !== 'BYE') return 'pass'
        const [id = ''] = frame.text.split('|')
        return {
          instead: `${id}|sip||nobody@nowhere;from-tag=1|\r\n${frame.text.split('\r\n').slice(1).join('\r\n')}`,
        }
      }
      leg.end({ code: 'normal' })
      await t.asked('BYE')
    },
  ],
]

const outbound: readonly Case[] = [
  [
    'never says that the INVITE went out',
    agent(confirmed('INVITE')),
    async (t) => {
      const { leg, invite } = await t.dials()
      t.peer.reply(invite, 180)
      await t.said('180 INVITE')
      leg.end({ code: 'no_answer' })
    },
  ],
  [
    'tells of the 200 before it says that the INVITE went out',
    agent(confirmed('INVITE'), 'hold'),
    async (t) => {
      const { leg, invite } = await t.dials()
      t.peer.reply(invite, 200, { body: carrierSdp() })
      await t.said('200 INVITE')
      t.relay.release()
      leg.end({ code: 'no_answer' })
    },
  ],
  [
    'tells of no response, and not of the end after the CANCEL',
    agent((frame) => frame.kind === 'sip' && / INVITE$/.test(frame.sip)),
    async (t) => {
      const { leg, invite } = await t.dials()
      t.peer.reply(invite, 180)
      await t.said('180 INVITE')
      leg.end({ code: 'no_answer' })
      t.peer.reply(await t.peer.request('CANCEL'), 200)
      t.peer.reply(invite, 487)
      await t.said('487 INVITE')
    },
  ],
  [
    'never tells of the end of a cancelled INVITE',
    agent(delivered('487 INVITE')),
    async (t) => {
      const { leg, heard, invite } = await t.dials()
      t.peer.reply(invite, 180)
      await heard.until('ringing')
      leg.end({ code: 'canceled' })
      t.peer.reply(await t.peer.request('CANCEL'), 200)
      t.peer.reply(invite, 487)
      await t.said('487 INVITE')
    },
  ],
  [
    'never tells of the refusal',
    agent(delivered('486 INVITE')),
    async (t) => {
      const { leg, heard, invite } = await t.dials()
      t.peer.reply(invite, 180)
      await heard.until('ringing')
      t.peer.reply(invite, 486)
      await t.said('486 INVITE')
      leg.end({ code: 'no_answer' })
    },
  ],
  [
    'tells of a 200 that crosses the CANCEL, hangs up by itself, and then says nothing of our BYE',
    agent((frame) => delivered('BYE', '200 BYE')(frame) || confirmed('BYE')(frame)),
    async (t) => {
      const { leg, heard, invite } = await t.dials()
      t.peer.reply(invite, 180)
      await heard.until('ringing')
      leg.end({ code: 'canceled' })
      t.peer.reply(await t.peer.request('CANCEL'), 200)
      t.peer.reply(invite, 200, { body: carrierSdp() })
      await t.asked('BYE')
    },
  ],
  [
    'tells of the 200 twice',
    agent(delivered('200 INVITE'), 'twice'),
    async (t) => {
      const { leg, heard, invite } = await t.dials()
      t.peer.reply(invite, 200, { body: carrierSdp() })
      await heard.until('answered')
      // The repeated 200 does not end the call.
      await t.passes(5_000)
      expect(leg.isEnded).toBe(false)
      leg.end({ code: 'normal' })
      t.peer.reply(await t.peer.request('BYE'), 200)
    },
  ],
  [
    'tells of the 200 and of the BYE behind it in the wrong order',
    agent(delivered('200 INVITE'), 'hold'),
    async (t) => {
      const { leg, invite } = await t.dials()
      t.peer.reply(invite, 180)
      t.peer.reply(invite, 200, { body: carrierSdp() })
      await t.said('200 INVITE')
      t.relay.release()
      await t.peer.request('ACK')
      leg.end({ code: 'normal' })
      t.peer.reply(await t.peer.request('BYE'), 200)
    },
  ],
]

const isOver = async (t: Misbehaving): Promise<void> => {
  await t.passes(boundMs)
  await expect.poll(() => t.left, patience).toEqual(nothing)
}

describe.each([
  ['a stranger', []],
  ['a known caller', [{ allow: ['127.0.0.0/8'] }]],
])('a call of %s', (_caller, domains) => {
  it.each(inbound)('leaves nothing open with an agent that %s', async (_name, rule, play) => {
    const trust = new Trust({ domains, carriers: [], sip: { registrar: { domains: [] } } })
    bench = await Misbehaving.start({ parts: { trust } })
    bench.relay.rule = rule
    await play(bench)
    await isOver(bench)
  })
})

it.each(outbound)(
  'a call of the gateway leaves nothing open with an agent that %s',
  async (_name, rule, play) => {
    bench = await Misbehaving.start()
    bench.relay.rule = rule
    await play(bench)
    await isOver(bench)
  },
)

it('a call that the agent has hung up itself ends at once, although the agent does not answer the gateway’s BYE', async () => {
  bench = await Misbehaving.start()
  const isRefusal = ({ kind, text }: RelayedFrame) => kind === 'response' && text.includes('|NOK|')
  bench.relay.rule = agent(
    (frame) => isRefusal(frame) || delivered('200 BYE')(frame) || confirmed('BYE')(frame),
  )
  const { leg, heard, invite } = await bench.dials()
  bench.peer.reply(invite, 180)
  await heard.until('ringing')
  leg.end({ code: 'canceled' })
  bench.peer.reply(await bench.peer.request('CANCEL'), 200)
  bench.peer.reply(invite, 200, { body: carrierSdp() })
  // The clock stands still: nothing is waited for.
  await expect.poll(() => bench?.left, patience).toEqual(nothing)
})

type Stage = (t: Misbehaving) => Promise<unknown>
it.each<readonly [string, Stage]>([
  ['before an inbound call is answered', (t) => t.arrives()],
  ['before the ACK', (t) => t.answers()],
  [
    'while our BYE is open',
    async (t) => {
      const { leg } = await t.answers()
      leg.end({ code: 'normal' })
    },
  ],
  ['before an outbound call is answered', (t) => t.dials()],
  [
    'while an INVITE is cancelled',
    async (t) => {
      const { leg } = await t.dials()
      leg.end({ code: 'canceled' })
    },
  ],
])('a call whose agent connection is cut %s leaves nothing open', async (_stage, play) => {
  bench = await Misbehaving.start()
  await play(bench)
  bench.relay.cut()
  await expect
    .poll(() => bench?.carrier.bench.logged.some(({ msg }) => msg === 'SIP agent: connection lost'), patience)
    .toBe(true)
  await isOver(bench)
})
