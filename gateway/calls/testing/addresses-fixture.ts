/** Calls on fakes whose documents call addresses, for tests. */
import type { CallControl, CalleeState, ConnectOptions, ConnectResult } from '../../../handlers/verbs.ts'
import type { Target } from '../../model.ts'
import { settle, setUp as setUpCalls } from './calls-fixture.ts'
import { FakeCallRows } from './fake-call-rows.ts'

/** A document. */
export type Run = (call: CallControl) => Promise<void>

const resolve = (to: string): Target | undefined => {
  if (to.startsWith('sip:')) return { kind: 'sip', uri: to }
  return to.startsWith('/public/')
    ? { kind: 'handler', address: to, handler: { kind: 'script', document: '{}', name: to } }
    : undefined
}

const state = (one: CalleeState) => (one.kind === 'ended' ? `ended ${one.outcome} ${one.code}` : one.kind)

/** Lets everything go on that waits for promises. */
export const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 8; turn++) await settle()
}

/** A document that answers and waits. */
export const waits: Run = async (call) => {
  await call.answer()
  await call.sleep(1_000_000)
}

/** Every address `/public/…` runs its document in `at`. `maxCalls`: calls at once. */
export const setUp = (maxCalls = 100) => {
  const log = new FakeCallRows()
  const t = setUpCalls({ addresses: { resolve }, maxCalls, rows: log })
  const at: Record<string, Run> = {}
  /** Outcomes of `connect`, in order. */
  const results: ConnectResult[] = []
  const states: string[] = []
  const onState = (one: CalleeState) => states.push(state(one))
  const connect = async (
    call: CallControl,
    to: string | readonly string[],
    more: Partial<ConnectOptions> = {},
  ) => {
    const step = [to].flat().map((each) => ({ to: each, onState }))
    results.push(await call.connect({ steps: [step], answerOnBridge: true, ...more }))
  }
  /** A call from outside, whose document is `run`. */
  const arrive = async (run: Run) => {
    const made = t.arrive((call) => (at[call.info.to] ?? run)(call))
    await turns()
    return made
  }
  /** Counts of everything that calls hold; all zero once the last is over. */
  const left = () => [
    t.calls.count,
    t.calls.legs,
    t.bridges.count,
    t.clock.running,
    t.ports.filter((port) => !port.closed).length,
  ]
  return { t, log, at, results, states, connect, arrive, left }
}
