import { beforeEach, describe, expect, it } from 'vitest'
import { CoreBench, nothing } from '../../testing/core.ts'

const sdp = 'v=0\r\n'
const id = 'c1;from-tag=f'
let bench: CoreBench
beforeEach(() => {
  bench = new CoreBench()
})

/** Effect of an answered BYE of the application. */
const hungUp = () => {
  const dialog = bench.dialogs.byId(id)
  if (!dialog) throw new Error('no dialog')
  bench.dialogs.remove(dialog)
}
/** The request that the application was handed last. */
const asked = () => bench.handed().at(-1)?.txnId as string

describe('an answer of the application after its own BYE', () => {
  it('to a re-INVITE is not retransmitted, because no ACK would stop it', () => {
    bench.receive('INVITE', 1, 'i', {}, sdp)
    bench.respond(asked(), 200, {}, sdp)
    const to = { To: `<sip:b@h>;tag=${bench.sent()[0]?.toTag}` }
    bench.receive('ACK', 1, 'a', to)
    bench.receive('INVITE', 2, 'j', to, sdp)
    const reinvite = asked()
    hungUp()
    bench.respond(reinvite, 200, {}, sdp)
    bench.clock.advance(40_000)
    expect(bench.statuses()).toEqual([200])
    expect([bench.expired, bench.held()]).toEqual([[], nothing])
  })

  it.each(['', '100rel'])(
    'to the INVITE does not confirm the early dialog that the BYE has ended (%s)',
    (require) => {
      bench.receive('INVITE', 1, 'i', { Supported: '100rel' }, sdp)
      const invite = asked()
      bench.respond(invite, 183, require ? { Require: require } : {}, sdp)
      const [progress] = bench.sent()
      const to = { To: `<sip:b@h>;tag=${progress?.toTag}` }
      hungUp()
      bench.respond(invite, 200, {}, sdp, '200')
      if (require)
        bench.receive('PRACK', 2, 'p', { ...to, RAck: `${progress?.headers.first('rseq')} 1 INVITE` })
      bench.clock.advance(100)
      const answers = bench.sent().filter(({ seqMethod }) => seqMethod === 'INVITE')
      expect(answers.map(({ status }) => status)).toEqual([487])
      const said = bench.received().filter(({ fields }) => fields[1] === '200')
      expect(said.map(({ fields }) => fields[2])).toEqual(['NOK'])
      bench.receive('ACK', 1, 'i', to)
      bench.clock.advance(64_000)
      expect(bench.held()).toEqual(nothing)
    },
  )

  it('to a SUBSCRIBE creates no subscription', () => {
    bench.receive('SUBSCRIBE', 1, 's', { Event: 'dialog' })
    const subscribe = asked()
    bench.respond(subscribe, 183)
    hungUp()
    bench.respond(subscribe, 202, { Expires: '60' })
    bench.clock.advance(64_000)
    expect(bench.statuses()).toContain(202)
    expect(bench.held()).toEqual(nothing)
  })
})
