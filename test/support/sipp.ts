import { createSocket } from 'node:dgram'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { freePort } from '../../media/testing/free-ports.ts'
import { reportOnFailure } from './failure-report.ts'
import { Program } from './program.ts'
import { patience, until } from './until.ts'

const scenarios = join(dirname(import.meta.dirname), 'scenarios', 'sipp')

/** Value for a scenario file. A list becomes header fields, one per line, after an existing line. */
export type SippValue = string | number | readonly string[]

/** Options of SIPp. */
export interface SippOptions {
  /** Name of a file in `test/scenarios/sipp`, without `.xml`. */
  readonly scenario: string
  /**
   * Values for `@name@` in the file, and instead of the default in `@name=default@`. SIPp replaces keywords
   * in `[…]` itself.
   */
  readonly values?: Readonly<Record<string, SippValue>>
  /** `127.0.0.1:port` of the far side. Default: SIPp waits for calls. */
  readonly to?: string
  readonly transport?: 'udp' | 'tcp'
  /** Local address; default 127.0.0.1. */
  readonly address?: string
  /** Local SIP port; default a free one. */
  readonly port?: number
  /** UDP ports for RTP, written into the SDP. SIPp runs one call for each. */
  readonly mediaPorts: readonly number[]
  /** Length of `<pause/>` without one, in ms; default 0. `manual`: until {@link Sipp.goOn}, over UDP only. */
  readonly holdMs?: number | 'manual'
  /** New calls per second; default all at once. */
  readonly rate?: number
  /** Most calls at a time; default all. */
  readonly simultaneous?: number
  /** Whether to log every message for the report of a failure; default true. */
  readonly trace?: boolean
  /** Time-out in ms, stretched as {@link until} is; default 20 s. */
  readonly timeoutMs?: number
}

/** A running SIPp. Its scenarios log events as lines `EVENT text`, which tests wait for. */
export class Sipp {
  readonly #program: Program
  readonly #folder: string
  readonly #name: string
  readonly #kept = new Map<string, string[]>()
  readonly #address: string
  /** Whether the scenario logs the begin of each pause. */
  readonly #logsPauses: boolean
  /** Number of pauses that were ended. */
  #goneOn = 0
  readonly port: number

  private constructor(
    program: Program,
    folder: string,
    port: number,
    options: SippOptions,
    logsPauses: boolean,
  ) {
    this.#logsPauses = logsPauses
    this.#program = program
    this.#folder = folder
    this.#name = options.scenario
    this.#address = options.address ?? '127.0.0.1'
    this.port = port
  }

  /** Starts SIPp. Without `to`, resolves when SIPp listens. */
  static async start(options: SippOptions): Promise<Sipp> {
    const folder = mkdtempSync(join(tmpdir(), 'sipp-'))
    const port = options.port ?? (await freePort())
    const controlPort = await freePort()
    const file = join(folder, 'scenario.xml')
    const text = scenarioText(options)
    writeFileSync(file, text)
    writeFileSync(
      join(folder, 'calls.csv'),
      `SEQUENTIAL\n${options.mediaPorts.map((media) => `${media};`).join('\n')}\n`,
    )
    const name = `sipp ${options.scenario}`
    const program = new Program('sipp', argumentsOf(options, file, folder, { port, controlPort }), {
      cwd: folder,
      name: false,
    })
    const sipp = new Sipp(program, folder, port, options, text.includes(manualPause))
    reportOnFailure(name, () => beforeScreens(program.lines))
    for (const kind of ['messages', 'errors']) reportOnFailure(`${name}: ${kind}`, () => sipp.#read(kind))
    const isListening = (): boolean => {
      if (program.exitCode !== undefined) throw new Error(sipp.#report('ended before it listened'))
      return isBound(port)
    }
    if (!options.to) await until('SIPp listens', isListening)
    return sipp
  }

  /** The events so far, as the scenario's `<log>` actions wrote them. */
  get events(): string[] {
    return this.#read('log')
      .filter((line) => line.startsWith('EVENT '))
      .map((line) => line.slice(6).trim())
  }

  /** Waits for an event that begins with `word`, and returns the rest of its text. */
  async event(word: string, ms = 10_000): Promise<string> {
    const find = (): string | undefined => {
      const event = this.events.find((text) => text.split(' ')[0] === word)
      if (event === undefined && this.#program.exitCode !== undefined)
        throw new Error(this.#report(`ended before ${word}`))
      return event
    }
    const found = await until(`SIPp sees ${word}`, find, (event) => event !== undefined, ms).catch(
      (error: Error) => {
        throw new Error(this.#report(error.message))
      },
    )
    return (found ?? '').split(' ').slice(1).join(' ')
  }

  /** Ends the pause of the only call; needs `holdMs: 'manual'`. */
  async goOn(): Promise<void> {
    this.#goneOn++
    if (this.#logsPauses) await this.#paused()
    // SIPp copies header fields of its next message from the last received one, so this message must repeat
    // them.
    const last = this.received().at(-1)
    if (last === undefined) throw new Error(this.#report('has no call that could go on'))
    const head = last.split('\n\n')[0]?.split('\n').slice(1) ?? []
    const kept = head.filter((line) => !/^Content-/i.test(line))
    const text = [`${goOn} sip:sipp@127.0.0.1 SIP/2.0`, ...kept, 'Content-Length: 0', '', ''].join('\r\n')
    const socket = createSocket(this.#address.includes(':') ? 'udp6' : 'udp4')
    await new Promise((resolve) => socket.send(text, this.port, this.#address, resolve))
    socket.close()
  }

  /** Waits until the scenario has begun the pause that {@link goOn} ends. */
  async #paused(): Promise<void> {
    const paused = () => this.events.filter((event) => event === 'paused').length
    await until('SIPp pauses', paused, (pauses) => pauses >= this.#goneOn).catch((error: Error) => {
      throw new Error(this.#report(error.message))
    })
  }

  /** Waits for the end of SIPp. Throws with its output if a call failed. */
  async succeeded(): Promise<void> {
    const code = await this.#program.end()
    if (code !== 0) throw new Error(this.#report(`ended with ${code}`))
    this.#remove()
  }

  /** Ends SIPp in any state. Idempotent. */
  async stop(): Promise<void> {
    if (this.#program.exitCode === undefined) {
      this.#program.signal('SIGKILL')
      await this.#program.end()
    }
    this.#remove()
  }

  /** All SIP messages so far. */
  get messages(): string {
    return this.#read('messages').join('\n')
  }

  /** Received messages that begin with `start`, such as `BYE` or `SIP/2.0 200`; complete, with CRLF as LF. */
  received(start = ''): string[] {
    return this.#traced('received', start)
  }

  /** Sent messages that begin with `start`, in the same form. */
  sent(start = ''): string[] {
    return this.#traced('sent', start)
  }

  #traced(way: 'received' | 'sent', start: string): string[] {
    const parts = this.messages.replaceAll('\r', '').split(/^-{20,} .*\n/m)
    return parts.flatMap((part) => {
      const [, found, message = ''] = /^\w+ message (received|sent) .*:\n\n([\s\S]*)$/.exec(part) ?? []
      return found === way && message.startsWith(start) ? [message] : []
    })
  }

  /** Removes the folder, and keeps the contents of the logs. */
  #remove(): void {
    for (const name of ['log', 'messages', 'errors']) this.#kept.set(name, this.#read(name))
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #read(name: string): string[] {
    const kept = this.#kept.get(name)
    if (kept) return kept
    try {
      return readFileSync(join(this.#folder, name), 'utf8').split('\n')
    } catch {
      return []
    }
  }

  #report(what: string): string {
    const errors = this.#read('errors').join('\n').slice(-3000)
    return `SIPp with ${this.#name} ${what}\nevents: ${this.events.join(', ')}\n${errors}\n${this.messages.slice(-6000)}`
  }
}

/** `<include part="name" key="value" />` stands for `parts/name.xml` with these values. */
const include = /[ \t]*<include part="([\w-]+)"((?: [\w-]+="[^"]*")*) \/>\n/g

/** Request that ends a pause. The method does not exist in SIP, so no other peer sends it. */
const goOn = 'GO'

const silentPause = `<recv request="${goOn}" />`

/** A pause that logs its begin: SIPp gives up on a request that arrives before the step that expects it. */
const manualPause = `<nop><action><log message="EVENT paused" /></action></nop>${silentPause}`

/** An optional response before a pause, for which SIPp permits no action in between. */
const optionalBeforePause = /optional="true"(?:(?!<(?:recv|send|nop)\b)[\s\S])*<pause \/>/

const scenarioText = ({ scenario, values = {}, holdMs }: SippOptions): string => {
  const source = expanded(readFileSync(join(scenarios, `${scenario}.xml`), 'utf8'))
  const manual = optionalBeforePause.test(source) ? silentPause : manualPause
  const text = holdMs === 'manual' ? source.replaceAll('<pause />', manual) : source
  return text.replace(/@(\w+)(?:=([^@]*))?@/g, (_, name: string, preset?: string) => {
    const value = values[name] ?? preset
    if (value === undefined) throw new Error(`${scenario}.xml wants a value for ${name}`)
    return typeof value === 'object' ? value.map((line) => `\n${line}`).join('') : String(value)
  })
}

const expanded = (text: string): string =>
  text.replace(include, (_, part: string, attributes: string) => {
    const given = new Map(
      [...attributes.matchAll(/ ([\w-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
    )
    const own = expanded(readFileSync(join(scenarios, 'parts', `${part}.xml`), 'utf8'))
    return own.replace(/@(\w+)(?:=[^@]*)?@/g, (whole, name: string) => given.get(name) ?? whole)
  })

const argumentsOf = (
  options: SippOptions,
  file: string,
  folder: string,
  { port, controlPort }: { readonly port: number; readonly controlPort: number },
): string[] => {
  const calls = String(options.mediaPorts.length)
  const seconds = String(Math.ceil(((options.timeoutMs ?? 20_000) * patience) / 1000))
  return [
    ...(options.to ? [options.to] : []),
    '-sf',
    file,
    '-inf',
    join(folder, 'calls.csv'),
    '-i',
    options.address ?? '127.0.0.1',
    '-p',
    String(port),
    // SIPp would otherwise choose a port that another test may hold.
    '-cp',
    String(controlPort),
    '-t',
    options.transport === 'tcp' ? 't1' : 'u1',
    '-m',
    calls,
    '-l',
    String(options.simultaneous ?? calls),
    // SIPp waits for a whole period at its end, by default one second.
    '-r',
    String(options.rate ?? calls),
    '-rp',
    options.rate === undefined ? '20' : '1000',
    '-d',
    String(options.holdMs === 'manual' ? 0 : (options.holdMs ?? 0)),
    '-timeout',
    seconds,
    '-timeout_error',
    '-nostdin',
    '-trace_err',
    '-error_file',
    join(folder, 'errors'),
    '-trace_logs',
    '-log_file',
    join(folder, 'log'),
    ...(options.trace === false ? [] : ['-trace_msg', '-message_file', join(folder, 'messages')]),
  ]
}

/** Lines before the first screen of statistics, with the reason if SIPp does not start. */
const beforeScreens = (lines: readonly string[]): readonly string[] => {
  const first = lines.findIndex((line) => /^-{5,}.* Screen -/.test(line))
  return first < 0 ? lines : lines.slice(0, first)
}

/** Whether a UDP or TCP socket of this machine uses the port. */
const isBound = (port: number): boolean => {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')} `
  const tables = ['udp', 'tcp', 'udp6', 'tcp6'].map((name) => `/proc/net/${name}`)
  return tables.some((table) => readFileSync(table, 'utf8').includes(wanted))
}
