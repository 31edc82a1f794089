import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { goertzel, sine } from '../../media/codecs/tone.ts'
import { freePort, freePortRange } from '../../media/testing/free-ports.ts'
import type { DeskPhone, DeskPhoneOptions } from './desk-phone.ts'
import { Program } from './program.ts'
import { until } from './until.ts'
import { wav } from './wav.ts'

const rate = 8_000
const wavHeader = 44

/** Settings of a linphone. */
export interface LinphoneOptions extends DeskPhoneOptions {
  /**
   * Registrar (host and port) and digest password. Without an account the phone does not register, and can be
   * called at {@link Linphone.uri}.
   */
  readonly account?: { readonly domain: string; readonly password: string; readonly registrar: string }
  /** Certificate file of the authority for servers; needed with TLS. */
  readonly ca?: string
}

/**
 * The softphone linphone without a sound card. The phone sends a tone and records its received audio. Ends
 * with its test.
 */
export class Linphone implements DeskPhone {
  readonly #program: Program
  readonly #folder: string
  readonly #port: number
  readonly #options: LinphoneOptions

  private constructor(program: Program, folder: string, port: number, options: LinphoneOptions) {
    this.#program = program
    this.#folder = folder
    this.#port = port
    this.#options = options
  }

  /** Starts the phone. With an account, resolves after the registration. */
  static async start(options: LinphoneOptions): Promise<Linphone> {
    const folder = mkdtempSync(join(tmpdir(), 'linphone-'))
    const port = await freePort()
    mkdirSync(join(folder, '.local', 'share', 'linphone'), { recursive: true })
    writeFileSync(join(folder, 'linphonerc'), configOf(options, port, (await freePortRange(2)).from))
    writeFileSync(join(folder, 'tone.wav'), wav(sine(options.tone, 60_000), rate))
    const env = { ...process.env, HOME: folder }
    const args = ['-c', join(folder, 'linphonerc'), ...(options.answers === false ? [] : ['-a'])]
    const program = new Program('linphonec', args, { cwd: folder, env, input: true, name: 'linphone' })
    onTestFinished(async () => {
      await program.stop()
      rmSync(folder, { recursive: true, force: true })
    })
    const phone = new Linphone(program, folder, port, options)
    await phone.#begin()
    return phone
  }

  /** URI for calls without a registrar. */
  get uri(): string {
    const { transport = 'udp', user } = this.#options
    return `sip:${user}@127.0.0.1:${this.#port}${transport === 'udp' ? '' : `;transport=${transport}`}`
  }

  /** Output so far, for failure messages. */
  get output(): string {
    return this.#program.lines.join('\n')
  }

  dial(uri: string): void {
    this.#program.type(`call ${uri}`)
  }

  hangUp(): void {
    this.#program.type('terminate')
  }

  async hold(held: boolean): Promise<void> {
    const before = this.#program.lines.length
    this.#program.type(held ? 'pause' : 'resume')
    // It ignores a resume before it has received the answer to its hold.
    if (held) await this.says(/Call \d+ with .* is now paused/, before)
  }

  connected(): Promise<void> {
    return this.says(/Call \d+ with .* connected/)
  }

  ended(): Promise<void> {
    return this.says(/Call \d+ with .* ended/)
  }

  /** Waits for a matching line of the output, after the first `after` lines. */
  async says(pattern: RegExp, after = 0): Promise<void> {
    const found = () => this.#program.lines.slice(after).some((line) => pattern.test(line))
    await until(`linphone says ${pattern}`, found).catch((error: Error) => {
      throw new Error(`${error.message}\n${this.output.slice(-4000)}`)
    })
  }

  /** Waits until the last 250 ms of received audio are this tone. */
  async hears(frequency: number): Promise<void> {
    await until(
      `linphone hears ${frequency} Hz`,
      () => {
        const last = this.#heard().slice(-rate / 4)
        return last.length < rate / 4 ? 0 : goertzel(last, frequency)
      },
      (share) => share > 0.7,
    )
  }

  async #begin(): Promise<void> {
    this.#program.type('soundcard use files')
    this.#program.type(`play ${join(this.#folder, 'tone.wav')}`)
    this.#program.type(`record ${join(this.#folder, 'heard.wav')}`)
    await this.says(/wav files instead of soundcard/)
    if (this.#options.account) await this.#registered()
  }

  /** Polls until the phone is registered, because linphone does not report its registration. */
  async #registered(): Promise<void> {
    const lines = () => this.#program.lines.filter((line) => /^registered[=,]/.test(line))
    let asked = 0
    await until('linphone is registered', () => {
      if (lines().some((line) => line.startsWith('registered, '))) return true
      if (lines().length === asked) {
        this.#program.type('status register')
        asked++
      }
      return false
    })
  }

  #heard(): Int16Array {
    let bytes = Buffer.alloc(0)
    try {
      bytes = readFileSync(join(this.#folder, 'heard.wav')).subarray(wavHeader)
    } catch {
      // No sound was received yet.
    }
    const samples = new Int16Array(Math.floor(bytes.length / 2))
    for (let i = 0; i < samples.length; i++) samples[i] = bytes.readInt16LE(i * 2)
    return samples
  }
}

const configOf = (options: LinphoneOptions, port: number, rtpPort: number): string => {
  const { transport = 'udp', srtp, ca } = options
  return [
    '[sip]',
    ...(['udp', 'tcp', 'tls'] as const).map(
      // 0 closes a listener.
      (each) => `sip${each === 'udp' ? '' : `_${each}`}_port=${each === transport ? port : 0}`,
    ),
    'bind_address=127.0.0.1',
    'register_only_when_network_is_up=0',
    'guess_hostname=0',
    'default_proxy=0',
    'contact=sip:linphone@127.0.0.1',
    `media_encryption=${srtp === undefined ? 'none' : 'srtp'}`,
    `media_encryption_mandatory=${srtp === 'demanded' ? 1 : 0}`,
    ...(ca === undefined ? [] : [`root_ca=${ca}`, 'verify_server_certs=1', 'verify_server_cn=0']),
    '[rtp]',
    'bind_address=127.0.0.1',
    `audio_rtp_port=${rtpPort}`,
    ...accountOf(options),
    '',
  ].join('\n')
}

const accountOf = ({ user, account, transport = 'udp' }: LinphoneOptions): string[] => {
  if (!account) return []
  const server = `sip:${account.registrar};transport=${transport}`
  return [
    '[auth_info_0]',
    `username=${user}`,
    `passwd=${account.password}`,
    '[proxy_0]',
    `reg_proxy=${server}`,
    `reg_route=${server};lr`,
    `reg_identity=sip:${user}@${account.domain}`,
    'reg_expires=300',
    'reg_sendregister=1',
  ]
}
