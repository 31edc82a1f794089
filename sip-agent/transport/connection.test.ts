import { expect, it } from 'vitest'
import { FakeClock } from '../clock.ts'
import { defaultMessageLimits } from '../message/limits.ts'
import { TestSink } from '../testing/sink.ts'
import { Connection } from './connection.ts'
import { StreamFramer } from './stream-framer.ts'
import { openGate } from './types.ts'
import type { Wire } from './wire.ts'

/** A connection whose peer has this many bytes left unread; true where one more message ends it. */
const endedAt = (backlog: number, accepted: boolean, trusted: boolean): boolean => {
  const remote = { protocol: 'tcp', address: '198.51.100.7', port: 5060 } as const
  const owner = {
    local: { protocol: 'tcp', address: '192.0.2.1', port: 5060 } as const,
    sink: new TestSink(),
    gate: { ...openGate, isTrusted: () => trusted },
    clock: new FakeClock(),
    alias: () => {},
    gone: () => {},
  }
  let ended = false
  const wire: Wire = {
    backlog,
    write: () => {},
    finish: () => {},
    destroy: () => {
      ended = true
    },
    probe: () => {},
  }
  const connection = new Connection(
    { remote, isAccepted: accepted, names: [] },
    owner,
    new StreamFramer(defaultMessageLimits),
  )
  connection.begin(wire, 1_000)
  connection.opened()
  connection.send(Buffer.from('x'))
  return ended
}

it('the maximum backlog is 128 KiB for untrusted peers, 1 MiB for others', () => {
  const limits = [1 << 17, 1 << 20].flatMap((bytes) => [bytes, bytes + 1])
  const ends = (accepted: boolean, trusted: boolean) => limits.map((each) => endedAt(each, accepted, trusted))
  expect(ends(true, false)).toEqual([false, true, true, true])
  for (const [accepted, trusted] of [
    [true, true],
    [false, false],
  ] as const)
    expect(ends(accepted, trusted)).toEqual([false, false, false, true])
})
