import { resolve } from 'node:path'
import { ConfigInvalid } from '../../config/faults.ts'
import { readDataDir } from '../../config/load.ts'
import { askGateway, noGateway } from './ask-gateway.ts'

/** Exit codes of the commands that ask a running gateway. */
export const gatewayExit = { done: 0, failed: 1, invalid: 2, notRunning: 3 } as const

/** Response of a gateway, or the exit code of a request without one; the reason is printed then. */
export type GatewayResponse<T> =
  | { readonly kind: 'body'; readonly body: T }
  | { readonly kind: 'failed'; readonly exitCode: number }

/** Sends a request to the gateway of a configuration file. `T`: body of the response. */
export const requestGateway = async <T extends object>(
  file: string,
  request: { readonly command: string } & Readonly<Record<string, unknown>>,
): Promise<GatewayResponse<T>> => {
  const fail = (exitCode: number, text: string): GatewayResponse<T> => {
    process.stderr.write(`${text}\n`)
    return { kind: 'failed', exitCode }
  }
  let dataDir: string
  try {
    dataDir = readDataDir(resolve(file))
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error
    return fail(gatewayExit.invalid, error.message)
  }
  const line = await askGateway(dataDir, request)
  if (line === undefined) return fail(gatewayExit.notRunning, noGateway(dataDir))
  const body = JSON.parse(line) as T & { readonly error?: string }
  if (body.error === 'unknown request')
    return fail(gatewayExit.failed, 'The gateway does not know this command: it is another version.')
  // The body of a reload has the field `error`, too, so this function is not for reloads.
  return typeof body.error === 'string' ? fail(gatewayExit.failed, body.error) : { kind: 'body', body }
}

/** Prints a body as JSON, or as the lines that `toLines` makes. */
export const printBody = <T>(body: T, json: boolean, toLines: (body: T) => readonly string[]): void => {
  process.stdout.write(json ? `${JSON.stringify(body, null, 2)}\n` : `${toLines(body).join('\n')}\n`)
}
