import type { Page } from 'playwright-core'
import type { Browser } from './browser.ts'
import type { Gateway } from './gateway.ts'
import type { PageWire } from './page-wire.ts'
import { rest } from './rest.ts'
import { SdkPage, type SdkPageOptions } from './sdk-page.ts'
import { type AnyFate, pageScript } from './sdk-window.ts'

/** Requests a room token from the API. */
export const roomToken = async (gateway: Gateway, body: object): Promise<string> =>
  (await rest(gateway, 'POST', '/api/video/room_tokens', body)).body.token

/** A `RoomSessionDevice`. */
interface Device {
  leave(): Promise<void>
}

/** Objects of the published SDK that the page keeps. */
interface VideoWindow {
  SignalWire: { Video: { RoomSession: new (options: object) => { join(options: object): Promise<unknown> } } }
  watch(call: unknown): { join(options: object): Promise<unknown> }
  fate(work: () => unknown): Promise<AnyFate>
  document: { getElementById(id: string): unknown }
  call: Record<'addCamera' | 'addMicrophone', () => Promise<Device>>
  /** Further devices of the page. */
  devices?: readonly Device[]
}

/** Options of a {@link VideoPage}. */
export type VideoPageOptions = Pick<SdkPageOptions, 'folder' | 'camera' | 'first'>

/** A customer's page with `Video.RoomSession` of the published SDK, unmodified. */
export class VideoPage {
  readonly #sdk: SdkPage
  readonly #gateway: Gateway

  private constructor(sdk: SdkPage, gateway: Gateway) {
    this.#sdk = sdk
    this.#gateway = gateway
  }

  static async open(browser: Browser, gateway: Gateway, options: VideoPageOptions = {}): Promise<VideoPage> {
    const sdk = await SdkPage.open(browser, gateway, 'none', { ...options, isSignedIn: false })
    return new VideoPage(sdk, gateway)
  }

  get page(): Page {
    return this.#sdk.page
  }

  get wire(): PageWire {
    return this.#sdk.wire
  }

  /**
   * Creates a room session with a token and joins. Returns the outcome of `join()`. `session`: further
   * options of the room session.
   */
  async join(token: string, options: object = { video: true }, session: object = {}): Promise<AnyFate> {
    const host = `gw.localhost:${this.#gateway.tlsPort}`
    await this.page.evaluate(pageScript)
    return this.page.evaluate(
      ({ token, host, wanted, session }) => {
        const window = globalThis as unknown as VideoWindow
        const rootElement = window.document.getElementById('root')
        const { RoomSession } = window.SignalWire.Video
        const room = window.watch(new RoomSession({ token, host, rootElement, ...session }))
        return window.fate(async () => {
          await room.join(wanted)
        })
      },
      { token, host, wanted: options, session },
    )
  }

  /** Reloads the page in the same tab; {@link join} joins again. */
  async reload(): Promise<void> {
    await this.page.reload()
  }

  /** Returns the outcome of a method of the room session. */
  fate(method: string, ...options: readonly unknown[]): Promise<AnyFate> {
    return this.#sdk.fate(`call.${method}`, ...options)
  }

  /** Calls a method of the room session. Resolves and rejects as the method does, with JSON. */
  do(method: string, ...options: readonly unknown[]): Promise<unknown> {
    return this.#sdk.do(method, ...options)
  }

  /** Adds a further device of the page, and resolves when the SDK has it as a member. */
  async addDevice(method: 'addCamera' | 'addMicrophone'): Promise<void> {
    await this.page.evaluate(async (name) => {
      const window = globalThis as unknown as VideoWindow
      window.devices = [...(window.devices ?? []), await window.call[name]()]
    }, method)
  }

  /** Ends the further devices. */
  async leaveDevices(): Promise<void> {
    await this.page.evaluate(async () => {
      const { devices = [] } = globalThis as unknown as VideoWindow
      for (const device of devices) await device.leave()
    })
  }

  /** Returns a property of the room session, as JSON. */
  property(name: string): Promise<unknown> {
    return this.page.evaluate(
      (key) => (globalThis as unknown as { call: Record<string, unknown> }).call[key],
      name,
    )
  }

  /** Names of the events of the room session so far. */
  events(): Promise<string[]> {
    return this.#sdk.events()
  }

  /** Leaves the room; no effect if the page is in none. */
  async leave(): Promise<void> {
    if (await this.page.evaluate('globalThis.call?.active === true')) await this.do('leave')
  }

  close(): Promise<void> {
    return this.#sdk.close()
  }
}

/** Opens a page, and closes it after the work. */
export const withVideoPage = async (
  browser: Browser,
  gateway: Gateway,
  {
    options,
    work,
  }: { readonly options: VideoPageOptions; readonly work: (page: VideoPage) => Promise<void> },
): Promise<void> => {
  const page = await VideoPage.open(browser, gateway, options)
  try {
    await work(page)
  } finally {
    await page.leave()
    await page.close()
  }
}

/** Returns a member of the page's room, by its name. */
export const memberNamed = async (
  page: VideoPage,
  name: string,
): Promise<{ id: string } & Record<string, unknown>> => {
  const { members } = (await page.do('getMembers')) as { members: ({ id: string } & { name: string })[] }
  return members.find((member) => member.name === name)!
}
