import { resolve } from 'node:path'
import { ConfigInvalid } from '../../config/faults.ts'
import { readDataDir } from '../../config/load.ts'
import { exitCodeOf, type ReloadBody, reloadExit, reloadLines } from '../reload/reload-report.ts'
import { askGateway, noGateway } from './ask-gateway.ts'
import { printFaultsOfStart } from './print-faults.ts'

/** Options of `trunkline reload`. */
export interface ReloadCommandOptions {
  readonly dryRun: boolean
  /** Prints the result as JSON. */
  readonly json: boolean
}

/**
 * `trunkline reload`: makes a running gateway reload its configuration, and prints the changes. The gateway
 * is found by the data folder in the file, and reads the file itself, with its own environment. Returns an
 * exit code of {@link reloadExit}.
 */
export const reloadGateway = async (
  file: string,
  { dryRun, json }: ReloadCommandOptions,
): Promise<number> => {
  const path = resolve(file)
  let dataDir: string
  try {
    dataDir = readDataDir(path)
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error
    printFaultsOfStart(error.faults)
    return reloadExit.invalid
  }
  const answer = await askGateway(dataDir, { command: 'reload', dry_run: dryRun, file: path })
  if (answer === undefined) {
    process.stderr.write(`${noGateway(dataDir)}
`)
    return reloadExit.notRunning
  }
  const body = readAnswer(answer)
  if (!body) {
    const { error, code } = JSON.parse(answer) as { readonly error?: string; readonly code?: string }
    const isRefused = error !== undefined && code !== undefined
    const unknown = `The gateway did not understand the command: is it another version? ${answer}`
    process.stderr.write(isRefused ? `${error}\n` : unknown)
    return reloadExit.failed
  }
  process.stdout.write(json ? `${JSON.stringify(body, null, 2)}\n` : `${reloadLines(body).join('\n')}\n`)
  return exitCodeOf(body)
}

/** Returns the result in a response; undefined if the response has none, for example from another version. */
const readAnswer = (answer: string): ReloadBody | undefined => {
  const body = JSON.parse(answer) as Partial<ReloadBody>
  return body.result === undefined ? undefined : (body as ReloadBody)
}
