import { resolve } from 'node:path'
import { readDataDir } from '../../config/load.ts'
import { isDataFolderTaken } from '../cluster/data-folder.ts'
import type { Clock } from '../core/clock.ts'
import type { StatusBody } from '../operator/status.ts'
import { askGateway } from './ask-gateway.ts'
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
 * calls whenever it changes, and returns after the process has ended. A missing answer alone is no end: the
 * gateway may be busy, so the lock of its data folder decides.
 */
export const drainGateway = async (
  file: string,
  { graceMs, json }: DrainOptions,
  clock: Pick<Clock, 'after'>,
): Promise<number> => {
  const request = { command: 'drain', ...(graceMs !== undefined && { timeout_ms: graceMs }) }
  const started = await requestGateway<{ readonly calls: number }>(file, request)
  if (started.kind === 'failed') return started.exitCode
  // The file may change during the drain, the folder of this gateway does not.
  const dataDir = readDataDir(resolve(file))
  const print = (body: object, line: string) =>
    process.stdout.write(`${json ? JSON.stringify(body) : line}\n`)
  let calls: number | undefined
  const report = (count: number) => {
    if (count !== calls)
      print({ calls: count }, `Draining: ${count} ${count === 1 ? 'call' : 'calls'} in progress.`)
    calls = count
  }
  report(started.body.calls)
  for (;;) {
    await new Promise<void>((next) => clock.after(pollMs, next))
    const line = await askGateway(dataDir, { command: 'status' })
    const status = line === undefined ? undefined : (JSON.parse(line) as Partial<StatusBody>)
    if (status?.state === 'running') {
      process.stderr.write('The gateway runs without draining: it was started again.\n')
      return gatewayExit.failed
    }
    if (status?.calls) report(status.calls.in_progress)
    else if (!isDataFolderTaken(dataDir)) break
  }
  print({ drained: true }, 'The gateway has ended its calls and stopped.')
  return gatewayExit.done
}
