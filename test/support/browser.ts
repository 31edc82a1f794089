import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser as Chromium, chromium, type Page } from 'playwright-core'
import { sine } from '../../media/codecs/tone.ts'
import { reportPageOnFailure } from './failure-report.ts'
import { audioProbe } from './page-audio.ts'
import { type Colour, videoProbe } from './page-video.ts'
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

/** Samples per second of what a microphone plays. */
export const microphoneRate = 48_000

/** How a page is opened. */
export interface PageOptions {
  /** Its audio goes over this port of a `WebRtcRelay`, and it may be recorded: it has no content policy. */
  readonly relay?: number
  /** Its audio goes through a TURN server, reached by this, and no other way; default: as the page likes. */
  readonly turnOnly?: 'udp' | 'tcp'
  /** What its camera shows; default: it has none that it may use. */
  readonly camera?: Colour
}

/** A headless Chromium whose microphone hears a tone. */
export class Browser {
  readonly #chromium: Chromium
  readonly #folder: string

  constructor(chromiumBrowser: Chromium, folder: string) {
    this.#chromium = chromiumBrowser
    this.#folder = folder
  }

  /** Starts one; the microphone plays `frequency` Hz, or these samples of {@link microphoneRate}, over and over. */
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

  /** A new page with a profile of its own, which can be listened to. */
  async page({ relay, turnOnly, camera }: PageOptions = {}): Promise<Page> {
    const context = await this.#chromium.newContext({
      ignoreHTTPSErrors: true,
      permissions: ['microphone', ...(camera ? ['camera'] : [])],
      bypassCSP: relay !== undefined,
    })
    await context.addInitScript(audioProbe)
    if (relay !== undefined) await context.addInitScript(`globalThis.testRelay = ${relay}`)
    if (turnOnly) await context.addInitScript(`globalThis.testTurnOnly = '${turnOnly}'`)
    if (camera) await context.addInitScript(videoProbe(camera))
    const page = await context.newPage()
    reportPageOnFailure(page)
    return page
  }

  /** Ends it and removes its files. */
  async stop(): Promise<void> {
    await this.#chromium.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
