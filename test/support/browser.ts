import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser as Chromium, chromium, type Page } from 'playwright-core'
import { sine } from '../../media/codecs/tone.ts'
import { reportPageOnFailure } from './failure-report.ts'
import { audioProbe, microphoneProbe } from './page-audio.ts'
import { type Colour, videoProbe } from './page-video.ts'
import { wav } from './wav.ts'

/** Flags of Chromium in all tests: quiet, without a sandbox, with a microphone that plays a file. */
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
  // Host candidates have addresses instead of mDNS names.
  '--disable-features=WebRtcHideLocalIpsWithMdns',
]

/** Sample rate of the microphone, in Hz. */
export const microphoneRate = 48_000

/** Options of a page. */
export interface PageOptions {
  /**
   * Port of a `WebRtcRelay` that carries the page's audio. The page then has no content policy, so that its
   * sound can be recorded.
   */
  readonly relay?: number
  /** Transport to a TURN server through which all audio must pass; default: any path. */
  readonly turnOnly?: 'udp' | 'tcp'
  /** Colour of the camera's picture; default no camera. */
  readonly camera?: Colour
  /** Frequency of the microphone's tone, in Hz; default the tone of the browser. */
  readonly microphone?: number
}

/** A headless Chromium whose microphone plays a tone. */
export class Browser {
  readonly #chromium: Chromium
  readonly #folder: string

  constructor(chromiumBrowser: Chromium, folder: string) {
    this.#chromium = chromiumBrowser
    this.#folder = folder
  }

  /**
   * Starts a browser. The microphone repeats a tone of this frequency, or these samples of {@link
   * microphoneRate}.
   */
  static async start(says: number | Int16Array): Promise<Browser> {
    const folder = mkdtempSync(join(tmpdir(), 'browser-'))
    const microphone = join(folder, 'microphone.wav')
    const samples = typeof says === 'number' ? sine(says, 5000, microphoneRate, 10_000) : says
    writeFileSync(microphone, wav(samples, microphoneRate))
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [...chromiumFlags, `--use-file-for-fake-audio-capture=${microphone}`],
    })
    return new Browser(browser, folder)
  }

  /** Opens a page with its own profile, and with probes for sound and video. */
  async page({ relay, turnOnly, camera, microphone }: PageOptions = {}): Promise<Page> {
    const context = await this.#chromium.newContext({
      ignoreHTTPSErrors: true,
      permissions: ['microphone', ...(camera ? ['camera'] : [])],
      bypassCSP: relay !== undefined,
    })
    await context.addInitScript(audioProbe)
    if (relay !== undefined) await context.addInitScript(`globalThis.testRelay = ${relay}`)
    if (turnOnly) await context.addInitScript(`globalThis.testTurnOnly = '${turnOnly}'`)
    if (microphone !== undefined) await context.addInitScript(microphoneProbe(microphone))
    if (camera) await context.addInitScript(videoProbe(camera))
    const page = await context.newPage()
    reportPageOnFailure(page)
    return page
  }

  /** Ends the browser and removes its files. */
  async stop(): Promise<void> {
    await this.#chromium.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
