import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../../core/clock.ts'
import type { WireMessage } from '../session/engine-socket.ts'
import { ResponseQueue } from './response-queue.ts'

/** Step of the session: a request, an interruption, or an act of the server. */
const step = fc.constantFrom('ask', 'cancel', 'serve', 'own', 'end', 'refuse', 'wait')

/** Server that knows one answer at a time, and counts what breaks its rules. */
class Server {
  active: string | undefined
  pending: WireMessage[] = []
  faults = 0
  #count = 0

  take(message: WireMessage): void {
    if (message.type === 'response.cancel') return
    if (this.active !== undefined || this.pending.length > 0) this.faults++
    this.pending.push(message)
  }

  begin(): string {
    this.active = `r${++this.#count}`
    return this.active
  }
}

const run = (steps: readonly string[]) => {
  const server = new Server()
  const clock = new FakeClock()
  const sent: number[] = []
  const queue = new ResponseQueue((message) => {
    server.take(message)
    if (message.type === 'response.create') sent.push((message.response as { n: number }).n)
  }, clock)
  let asked = 0
  let cancelledUpTo = 0
  for (const each of steps) {
    const sentBefore = sent.length
    if (each === 'ask') queue.create({ n: ++asked })
    else if (each === 'cancel') {
      queue.cancel()
      cancelledUpTo = asked
    } else if (each === 'serve' && server.active === undefined && server.pending.shift())
      queue.created(server.begin())
    else if (each === 'own' && server.active === undefined && server.pending.length === 0)
      queue.created(server.begin())
    else if (each === 'end' && server.active !== undefined) {
      const id = server.active
      server.active = undefined
      queue.done(id)
    } else if (each === 'refuse' && server.pending.length > 0)
      queue.refused(String(server.pending.shift()?.event_id), false)
    else if (each === 'wait' && server.pending.length === 0 && server.active === undefined)
      clock.advance(20_000)
    for (const n of sent.slice(sentBefore)) expect(n).toBeGreaterThan(cancelledUpTo)
  }
  return { server, sent, queue }
}

describe('the order of answers', () => {
  it('never asks while an answer is asked for or under way, nor for cancelled ones', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        expect(run(steps).server.faults).toBe(0)
      }),
    )
  })

  it('asks for each once, in order, while nothing is cancelled or refused', () => {
    const calm = fc.array(fc.constantFrom('ask', 'serve', 'own', 'end'), { maxLength: 60 })
    fc.assert(
      fc.property(calm, (steps) => {
        const { sent } = run([...steps, ...Array(60).fill(['serve', 'end']).flat()])
        const asked = steps.filter((each) => each === 'ask').length
        expect(sent).toEqual(Array.from({ length: asked }, (_, i) => i + 1))
      }),
    )
  })
})
