import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { goertzel, sine } from '../../media/codecs/tone.ts'
import { freePort, freePortRange, type PortRange } from '../../media/testing/free-ports.ts'
import type { DeskPhone, DeskPhoneOptions } from './desk-phone.ts'
import { Program } from './program.ts'
import { until } from './until.ts'
import { wav } from './wav.ts'

/** Folder of baresip's modules in Debian. */
const modules = '/usr/lib/baresip/modules'
const rate = 8_000
const wavHeader = 44

/** Settings of a baresip. */
export interface BaresipOptions extends DeskPhoneOptions {
  /**
   * Registrar as `address:port`, because baresip resolves no names here, and digest password. Without an
   * account the phone does not register, and can be called at {@link Baresip.uri}.
   */
  readonly account?: { readonly registrar: string; readonly password: string }
  /** Outbound proxy for all calls, as address and port. */
  readonly proxy?: string
  /** Only codec of the phone, in the form of `audio_codecs`; default both codecs of G.711. */
  readonly codec?: 'G722/16000/1' | 'opus/48000/2'
}

/** Event of baresip's control connection. */
interface BaresipEvent {
  readonly type: string
  readonly param?: string
  readonly peeruri?: string
}

/**
 * The softphone baresip without a sound card. The phone sends a tone and records its received audio. Ends
 * with its test.
 */
export class Baresip implements DeskPhone {
  readonly #program: Program
  readonly #control: Socket
  readonly #folder: string
  readonly #sipPort: number
  readonly #options: BaresipOptions
  readonly #events: BaresipEvent[] = []
  #rest = ''

  private constructor(
    program: Program,
    control: Socket,
    place: { folder: string; sipPort: number },
    options: BaresipOptions,
  ) {
    this.#program = program
    this.#control = control
    this.#folder = place.folder
    this.#sipPort = place.sipPort
    this.#options = options
    control.on('error', () => {})
    control.on('data', (chunk) => this.#take(chunk.toString()))
  }

  /** Starts the phone. With an account, resolves after the registration. */
  static async start(options: BaresipOptions): Promise<Baresip> {
    const folder = mkdtempSync(join(tmpdir(), 'baresip-'))
    const ports = { sip: await freePortRange(2), control: await freePort(), rtp: await freePortRange(20) }
    const place = { folder, sipPort: ports.sip.from }
    writeFileSync(join(folder, 'tone.wav'), wav(sine(options.tone, 60_000), rate))
    writeFileSync(join(folder, 'config'), configOf(folder, ports))
    writeFileSync(join(folder, 'accounts'), `${accountOf(options, place.sipPort)}\n`)
    writeFileSync(join(folder, 'contacts'), '')
    mkdirSync(join(folder, 'heard'))
    const program = new Program('baresip', ['-4', '-f', folder], { cwd: folder })
    onTestFinished(async () => {
      await program.stop()
      rmSync(folder, { recursive: true, force: true })
    })
    await until('baresip is ready', () => program.lines.some((line) => line.includes('is ready')))
    const control = connect(ports.control, '127.0.0.1')
    onTestFinished(() => void control.destroy())
    const phone = new Baresip(program, control, place, options)
    // The phone may have registered before the control connection was open.
    if (options.account)
      await until(
        'baresip has registered',
        () => phone.output,
        (text) => / 200 OK .*\[\d+ bindings?\]/.test(text),
      )
    return phone
  }

  /** URI for calls without a registrar. */
  get uri(): string {
    const { transport = 'udp', user } = this.#options
    const port = this.#sipPort + (transport === 'tls' ? 1 : 0)
    return `sip:${user}@127.0.0.1:${port}${transport === 'udp' ? '' : `;transport=${transport}`}`
  }

  /** Output so far, for failure messages. */
  get output(): string {
    return this.#program.lines.join('\n')
  }

  dial(uri: string): void {
    this.#command('dial', uri)
  }

  hangUp(): void {
    this.#command('hangup')
  }

  async hold(held: boolean): Promise<void> {
    this.#command(held ? 'hold' : 'resume')
  }

  connected(): Promise<void> {
    return this.#event('CALL_ESTABLISHED')
  }

  ended(): Promise<void> {
    return this.#event('CALL_CLOSED')
  }

  /** Waits for an event of the control connection. */
  async #event(type: string): Promise<void> {
    await until(`baresip says ${type}`, () => this.#events.some((event) => event.type === type)).catch(
      (error: Error) => {
        throw new Error(`${error.message}\n${this.output.slice(-4000)}`)
      },
    )
  }

  /** Waits until the last 250 ms of received audio are this tone. */
  async hears(frequency: number): Promise<void> {
    await until(
      `baresip hears ${frequency} Hz`,
      () => {
        const { samples, rate: heardRate } = this.#heard()
        const last = samples.slice(-heardRate / 4)
        return last.length < heardRate / 4 ? 0 : goertzel(last, frequency, heardRate)
      },
      (share) => share > 0.7,
    )
  }

  /** Returns the first channel of the recording, at the rate of the codec. */
  #heard(): { readonly samples: Int16Array; readonly rate: number } {
    const name = readdirSync(this.#folder).find((each) => each.endsWith('-dec.wav'))
    const bytes = name === undefined ? Buffer.alloc(0) : readFileSync(join(this.#folder, name))
    if (bytes.length <= wavHeader) return { samples: new Int16Array(0), rate }
    const channels = bytes.readUInt16LE(22)
    const heardRate = bytes.readUInt32LE(24)
    const samples = new Int16Array(Math.floor((bytes.length - wavHeader) / (2 * channels)))
    for (let i = 0; i < samples.length; i++) samples[i] = bytes.readInt16LE(wavHeader + i * 2 * channels)
    return { samples, rate: heardRate }
  }

  #command(command: string, params = ''): void {
    const text = JSON.stringify({ command, params, token: command })
    this.#control.write(`${Buffer.byteLength(text)}:${text},`)
  }

  /** Reads events in the form of netstrings (`length:text,`). */
  #take(text: string): void {
    this.#rest += text
    for (;;) {
      const match = /^(\d+):/.exec(this.#rest)
      if (!match) return
      const start = match[0].length
      const end = start + Number(match[1])
      if (this.#rest.length <= end) return
      const event = JSON.parse(this.#rest.slice(start, end)) as BaresipEvent
      if (event.type) this.#events.push(event)
      this.#rest = this.#rest.slice(end + 1)
    }
  }
}

interface BaresipPorts {
  /** Two ports: UDP and TCP use the first, TLS the second. */
  readonly sip: PortRange
  readonly control: number
  readonly rtp: PortRange
}

const configOf = (folder: string, { sip, control, rtp }: BaresipPorts): string =>
  [
    `sip_listen 127.0.0.1:${sip.from}`,
    'net_interface 127.0.0.1',
    `module_path ${modules}`,
    ...['g711', 'g722', 'opus', 'aufile', 'srtp', 'sndfile', 'ctrl_tcp'].map((name) => `module ${name}.so`),
    ...['account', 'menu'].map((name) => `module_app ${name}.so`),
    `ctrl_tcp_listen 127.0.0.1:${control}`,
    `snd_path ${folder}`,
    `audio_source aufile,${join(folder, 'tone.wav')}`,
    `audio_player aufile,${join(folder, 'heard', 'played.wav')}`,
    `ausrc_srate ${rate}`,
    `auplay_srate ${rate}`,
    'ausrc_channels 1',
    'auplay_channels 1',
    `rtp_ports ${rtp.from}-${rtp.to}`,
    'rtp_timeout 60',
    '',
  ].join('\n')

const accountOf = (
  { user, account, proxy, codec, transport = 'udp', srtp, answers = true }: BaresipOptions,
  port: number,
): string => {
  const encryption = srtp === undefined ? [] : [`mediaenc=${srtp === 'offered' ? 'srtp' : 'srtp-mand'}`]
  const outbound = proxy === undefined ? [] : [`outbound="sip:${proxy};transport=${transport}"`]
  const codecs = [`audio_codecs=${codec ?? 'PCMU/8000/1,PCMA/8000/1'}`]
  const mode = [`answermode=${answers ? 'auto' : 'manual'}`, ...codecs, ...encryption, ...outbound]
  if (!account)
    return [`<sip:${user}@127.0.0.1:${port};transport=${transport}>`, 'regint=0', ...mode].join(';')
  const parts = [`<sip:${user}@${account.registrar};transport=${transport}>`, `auth_pass=${account.password}`]
  return [...parts, 'regint=300', ...mode].join(';')
}
