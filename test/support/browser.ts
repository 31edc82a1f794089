import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser as Chromium, chromium, type Page } from 'playwright-core'
import { sine } from '../../media/codecs/tone.ts'
import { audioProbe } from './page-audio.ts'
import { wav } from './wav.ts'

/** How every test starts Chromium: quiet, without a sandbox of its own, with a microphone that a file plays. */
export const chromiumFlags = [
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
    writeFileSync(microphone, wav(sine(frequency, 5000, 48_000, 10_000), 48_000))
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [...chromiumFlags, `--use-file-for-fake-audio-capture=${microphone}`],
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
