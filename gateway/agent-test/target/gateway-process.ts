import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Clock } from '../../core/clock.ts'
import { readJsonObject } from '../../core/json.ts'

/** Longest start of a gateway, in ms. */
const maxStartMs = 60_000
/** Longest end of a gateway after SIGTERM, in ms. */
const maxStopMs = 15_000
/** Number of log lines that an error message quotes. */
const quotedLines = 15

interface Started {
  readonly child: ChildProcess
  readonly folder: string
  readonly lines: readonly string[]
  readonly sip: string
}

/** Gateway of a test, in a process and a folder of its own. */
export class GatewayProcess {
  readonly #child: ChildProcess
  readonly #folder: string
  readonly #clock: Clock
  /** Latest lines of its log, in JSON. */
  readonly log: readonly string[]
  /** Address of its SIP port: `127.0.0.1:…`. */
  readonly sip: string

  private constructor({ child, folder, lines, sip }: Started, clock: Clock) {
    this.#child = child
    this.#folder = folder
    this.#clock = clock
    this.sip = sip
    this.log = lines
  }

  /**
   * Starts a gateway with a configuration, whose SIP port is 0. Rejects with the end of its log if it does
   * not start.
   */
  static async start(config: Readonly<Record<string, unknown>>, clock: Clock): Promise<GatewayProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'trunkline-agent-test-'))
    const file = join(folder, 'trunkline.yaml')
    writeFileSync(file, JSON.stringify(config), { mode: 0o600 })
    const command = [...process.execArgv, process.argv[1] ?? '', 'run', file]
    // A group of its own: Ctrl+C in a terminal reaches the command alone, which then ends the gateway.
    const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    const lines: string[] = []
    // The command may end by a signal in the middle of a call.
    const onExit = (): void => {
      child.kill('SIGTERM')
      rmSync(folder, { recursive: true, force: true })
    }
    process.once('exit', onExit)
    child.once('exit', () => process.off('exit', onExit))
    try {
      const sip = await Promise.race([startedOf(child, lines), failureOf(child)])
      return new GatewayProcess({ child, folder, lines, sip }, clock)
    } catch (error) {
      await stop(child, clock)
      rmSync(folder, { recursive: true, force: true })
      const log = lines.slice(-quotedLines).map((line) => `\n  ${line}`)
      throw new Error(`The gateway of the test ${(error as Error).message}.${log.join('')}`)
    }
  }

  /** Ends the process, and removes its folder. Idempotent. */
  async stop(): Promise<void> {
    await stop(this.#child, this.#clock)
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

const entryOf = (line: string): Record<string, unknown> | undefined => {
  try {
    return readJsonObject(line)
  } catch {
    return undefined
  }
}

/** Keeps the log, and resolves with the SIP address when the gateway is ready. */
const startedOf = (child: ChildProcess, lines: string[]): Promise<string> => {
  const { promise, resolve } = Promise.withResolvers<string>()
  for (const stream of [child.stdout!, child.stderr!])
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line)
      if (lines.length > maxLines) lines.shift()
      const entry = entryOf(line)
      if (entry?.event !== 'gateway.started' || !Array.isArray(entry.sip)) return
      resolve(String(entry.sip[0]).replace(/^udp\//, ''))
    })
  return promise
}

/** Maximum number of kept log lines. */
const maxLines = 20_000

const failureOf = async (child: ChildProcess): Promise<never> => {
  const timer = AbortSignal.timeout(maxStartMs)
  const [code] = await once(child, 'exit', { signal: timer }).catch((error: Error) => {
    throw new Error(timer.aborted ? `was not ready within ${maxStartMs / 1000} s` : error.message)
  })
  throw new Error(`ended with code ${code}`)
}

const stop = async (child: ChildProcess, clock: Clock): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = clock.after(maxStopMs, () => child.kill('SIGKILL'))
  await ended
  timer.cancel()
}
