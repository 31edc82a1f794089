import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import puppeteer, { type Page as PuppeteerPage, type Browser as Started } from 'puppeteer-core'
import type { PageOptions } from './browser.ts'
import { reportOnFailure } from './failure-report.ts'
import { audioProbe } from './page-audio.ts'
import { type Colour, videoProbe } from './page-video.ts'
import { patience } from './until.ts'

/** Program of Debian's package `firefox-esr`. */
export const firefox = 'firefox-esr'

/** Preferences besides those that puppeteer sets. */
const preferences = (frequency: number): Record<string, unknown> => ({
  // Microphone and camera are Firefox's fake devices. The microphone plays a steady tone, by default of 1000
  // Hz.
  'media.navigator.streams.fake': true,
  'media.navigator.audio.fake_frequency': frequency,
  'media.navigator.permission.disabled': true,
  // Only pages with the permission get loopback candidates, without which Firefox does not try the gateway's
  // address.
  'permissions.default.microphone': 1,
  'permissions.default.camera': 1,
  'media.autoplay.default': 0,
  'media.autoplay.blocking_policy': 0,
  // Host candidates have addresses, including loopback, as in the tests' Chromium.
  'media.peerconnection.ice.obfuscate_host_addresses': false,
  'media.peerconnection.ice.loopback': true,
  // Firefox sends no requests of its own.
  'app.normandy.enabled': false,
  'browser.backup.enabled': false,
  'browser.ml.enable': false,
  'browser.region.network.url': '',
  'dom.push.connection.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'toolkit.telemetry.server': '',
  // One process for all pages, started on demand, which halves the time until the first page.
  'dom.ipc.forkserver.enable': false,
  'dom.ipc.processCount': 1,
  'dom.ipc.processPrelaunch.enabled': false,
  'fission.autostart': false,
  // No process for decoding video. The utility process stays enabled: Firefox decodes audio only there.
  'media.rdd-process.enabled': false,
})

/**
 * Runs in the page after {@link audioProbe}. Without a sound card Firefox's `AudioContext` never runs, so the
 * probe records the sound and renders it later. Only Firefox's workers read single frames, so the probe takes
 * frames from a player.
 */
const probe = (camera: Colour | undefined): string => `(() => {
  globalThis.testListen = async ([track], read) => {
    const recorder = new MediaRecorder(new MediaStream([track]))
    const parts = []
    recorder.ondataavailable = ({ data }) => parts.push(data)
    const [started, stopped] = ['start', 'stop'].map((event) => new Promise((resolve) => recorder.addEventListener(event, resolve)))
    recorder.start()
    await started
    await new Promise((resolve) => setTimeout(resolve, 350))
    recorder.stop()
    await stopped
    const recorded = await new Blob(parts).arrayBuffer()
    const heard = await new OfflineAudioContext(1, 1, 48000).decodeAudioData(recorded)
    const context = new OfflineAudioContext(1, heard.length, 48000)
    const [source, analyser] = [context.createBufferSource(), context.createAnalyser()]
    source.buffer = heard
    source.connect(analyser).connect(context.destination)
    source.start()
    analyser.fftSize = 8192
    await context.startRendering()
    return read(analyser)
  }
  globalThis.testNextFrame = async (track) => {
    const player = Object.assign(document.createElement('video'), { muted: true, srcObject: new MediaStream([track]) })
    player.play().catch(() => {})
    const frame = () => new Promise((resolve) => player.requestVideoFrameCallback(() => resolve(true)))
    const late = new Promise((resolve) => setTimeout(resolve, 500))
    // The first frame may be an old one.
    const came = await Promise.race([frame().then(frame), late])
    const picture = came && (await createImageBitmap(player))
    player.srcObject = null
    return picture && Object.assign(picture, { displayWidth: picture.width, displayHeight: picture.height })
  };
  ${camera ? videoProbe(camera) : ''}
})()`

/** Page of {@link Firefox}, with the members of playwright's page that tests use with both browsers. */
export class FirefoxPage {
  readonly #page: PuppeteerPage

  constructor(page: PuppeteerPage) {
    this.#page = page
  }

  /** Same as playwright's. */
  readonly evaluate = ((script: never, argument: never) =>
    this.#page.evaluate(script, argument)) as unknown as Page['evaluate']

  /** Same as playwright's. */
  goto(url: string): Promise<unknown> {
    return this.#page.goto(url)
  }

  /** Same as playwright's. */
  reload(): Promise<unknown> {
    return this.#page.reload()
  }

  /** Browser context of the page; its `close` also closes the page. */
  context(): { close(): Promise<void> } {
    return this.#page.browserContext()
  }
}

/** A headless Firefox whose microphone hears a tone, driven by WebDriver BiDi. */
export class Firefox {
  readonly #browser: Started
  readonly #folder: string

  private constructor(browser: Started, folder: string) {
    this.#browser = browser
    this.#folder = folder
  }

  /** Starts one; the microphone plays `frequency` Hz. */
  static async start(frequency: number): Promise<Firefox> {
    const folder = mkdtempSync(join(tmpdir(), 'firefox-'))
    try {
      const browser = await puppeteer.launch({
        browser: 'firefox',
        executablePath: `/usr/bin/${firefox}`,
        headless: true,
        acceptInsecureCerts: true,
        userDataDir: join(folder, 'profile'),
        // Firefox also writes to its home folder, which must belong to its user.
        env: { ...process.env, HOME: folder, MOZ_CRASHREPORTER_DISABLE: '1' },
        extraPrefsFirefox: preferences(frequency),
        timeout: 30_000 * patience,
        protocolTimeout: 30_000 * patience,
      })
      return new Firefox(browser, folder)
    } catch (error) {
      rmSync(folder, { recursive: true, force: true })
      throw error
    }
  }

  /** Opens a page with its own cookies and storage, and with a probe for its sound. */
  async page({ camera }: Pick<PageOptions, 'camera'> = {}): Promise<FirefoxPage> {
    const context = await this.#browser.createBrowserContext()
    const page = await context.newPage()
    const lines: string[] = []
    page.on('console', (message) => lines.push(`${message.type()}: ${message.text()}`))
    page.on('pageerror', (error) => lines.push(`error: ${error instanceof Error ? error.message : error}`))
    reportOnFailure('page', () => lines)
    await page.evaluateOnNewDocument(audioProbe)
    await page.evaluateOnNewDocument(probe(camera))
    return new FirefoxPage(page)
  }

  /** Ends the browser and its processes, by force after 10 s, and removes its files. */
  async stop(): Promise<void> {
    const killer = setTimeout(() => this.#kill(), 10_000)
    await this.#browser.close().catch(() => {})
    clearTimeout(killer)
    this.#kill()
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }

  /** Kills the process group of Firefox, which would otherwise outlive Firefox. */
  #kill(): void {
    const pid = this.#browser.process()?.pid
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL')
    } catch {
      // All processes have ended.
    }
  }
}
