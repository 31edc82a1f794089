import type { Clock } from '../core/clock.ts'
import type { StatusBody } from '../operator/status.ts'
import { gatewayExit, printBody, requestGateway } from './gateway-request.ts'

/** `trunkline hangup`: ends one call. */
export const hangUpCall = async (
  file: string,
  call: string,
  { reason, json }: { readonly reason: string; readonly json: boolean },
): Promise<number> => {
  const request = { command: 'hangup', call, reason }
  const response = await requestGateway<{ readonly hung_up: string }>(file, request)
  if (response.kind === 'failed') return response.exitCode
  printBody(response.body, json, ({ hung_up: id }) => [`Call ${id} is hung up.`])
  return gatewayExit.done
}

/** Interval of the questions for the number of calls, in ms. */
const pollMs = 1_000

/** Options of `trunkline drain`. */
export interface DrainOptions {
  /** Time for calls to end; default: that of the configuration. */
  readonly graceMs: number | undefined
  readonly json: boolean
}

/**
 * `trunkline drain`: makes the gateway reject new calls and end after the last call. Prints the number of
 * calls whenever it changes, and returns when the gateway has closed its control socket.
 */
export const drainGateway = async (
  file: string,
  { graceMs, json }: DrainOptions,
  clock: Pick<Clock, 'after'>,
): Promise<number> => {
  const request = { command: 'drain', ...(graceMs !== undefined && { timeout_ms: graceMs }) }
  const started = await requestGateway<{ readonly calls: number }>(file, request)
  if (started.kind === 'failed') return started.exitCode
  let calls: number | undefined
  const report = (count: number) => {
    if (count !== calls)
      printBody({ calls: count }, json, () => [
        `Draining: ${count} ${count === 1 ? 'call' : 'calls'} in progress.`,
      ])
    calls = count
  }
  report(started.body.calls)
  for (;;) {
    await new Promise<void>((next) => clock.after(pollMs, next))
    const status = await requestGateway<StatusBody>(file, { command: 'status' }, { isQuiet: true })
    if (status.kind === 'failed') break
    report(status.body.calls.in_progress)
  }
  printBody({ drained: true }, json, () => ['The gateway has ended its calls and stops.'])
  return gatewayExit.done
}
