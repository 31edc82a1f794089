import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser as Chromium, chromium, type Page } from 'playwright-core'
import { sine } from '../../media/codecs/tone.ts'
import { audioProbe } from './page-audio.ts'

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
  '--ignore-certificate-errors',
  '--autoplay-policy=no-user-gesture-required',
  '--use-fake-ui-for-media-stream',
  '--use-fake-device-for-media-stream',
  // Host candidates are addresses, not names that only multicast DNS knows.
  '--disable-features=WebRtcHideLocalIpsWithMdns',
]

/** A WAV file, 16 bit mono at 48 kHz. */
const wav = (samples: Int16Array): Buffer => {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(36 + samples.byteLength, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(48_000, 24)
  header.writeUInt32LE(96_000, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(samples.byteLength, 40)
  return Buffer.concat([header, Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)])
}

/** A headless Chromium whose microphone hears a tone. */
export class Browser {
  readonly #chromium: Chromium
  readonly #folder: string

  constructor(chromiumBrowser: Chromium, folder: string) {
    this.#chromium = chromiumBrowser
    this.#folder = folder
  }

  /** Starts one; the microphone plays `frequency` Hz, over and over. */
  static async start(frequency: number): Promise<Browser> {
    const folder = mkdtempSync(join(tmpdir(), 'browser-'))
    const microphone = join(folder, 'microphone.wav')
    writeFileSync(microphone, wav(sine(frequency, 5000, 48_000, 10_000)))
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [...flags, `--use-file-for-fake-audio-capture=${microphone}`],
    })
    return new Browser(browser, folder)
  }

  /** A new page with a profile of its own, which can be listened to. */
  async page(): Promise<Page> {
    const context = await this.#chromium.newContext({ ignoreHTTPSErrors: true, permissions: ['microphone'] })
    await context.addInitScript(audioProbe)
    return context.newPage()
  }

  /** Ends it and removes its files. */
  async stop(): Promise<void> {
    await this.#chromium.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
