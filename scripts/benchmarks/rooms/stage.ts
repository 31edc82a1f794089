import { Browser } from '../../../test/support/browser.ts'
import { Gateway, type GatewayOptions } from '../../../test/support/gateway.ts'
import { rest } from '../../../test/support/rest.ts'
import { SdkPage } from '../../../test/support/sdk-page.ts'
import { withToken } from '../../../test/support/sdk-people.ts'
import { roomToken, VideoPage } from '../../../test/support/video-page.ts'
import { type PersonOptions, personScript, type Rectangle, whole } from './person.ts'

/** Address of the measured room, with video. */
export const lounge = '/public/lounge?channel=video'

/** Waits for some ms. */
export const passes = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** A gateway with a room, and a browser whose pages have the newest published SDK. */
export class Stage {
  readonly gateway: Gateway
  readonly browser: Browser
  readonly #pages = new Set<SdkPage | VideoPage>()

  private constructor(gateway: Gateway, browser: Browser) {
    this.gateway = gateway
    this.browser = browser
  }

  /** Starts both. */
  static async open(options: GatewayOptions = {}): Promise<Stage> {
    const browsing = Browser.start(1000)
    const gateway = await Gateway.start({ ...withToken, ...options })
    const settings = { name: 'lounge', tone_on_entry_and_exit: false }
    await rest(gateway, 'POST', '/api/fabric/resources/conference_rooms', settings)
    return new Stage(gateway, await browsing)
  }

  /** Opens the page of a subscriber, signed in. */
  async subscriber(name: string, person: PersonOptions): Promise<SdkPage> {
    const token = await this.gateway.token(`${name}@example.test`)
    const options = { camera: person.colour, first: personScript(person) }
    const page = await SdkPage.open(this.browser, this.gateway, token, options)
    this.#pages.add(page)
    return page
  }

  /**
   * Opens the page of a subscriber that has joined the room with its camera. It decodes the picture of
   * the room, but does not draw it: a few pages that draw take all of a small machine.
   */
  async member(name: string, person: PersonOptions): Promise<SdkPage> {
    const page = await this.subscriber(name, person)
    await page.dial(lounge, { video: true })
    await page.page.evaluate(`document.getElementById('root').hidden = true`)
    return page
  }

  /** Opens a page with `Video.RoomSession`. */
  async guest(person: PersonOptions): Promise<VideoPage> {
    const options = { camera: person.colour, first: personScript(person) }
    const page = await VideoPage.open(this.browser, this.gateway, options)
    this.#pages.add(page)
    return page
  }

  /** Requests a room token for a guest. */
  token(name: string, permissions?: readonly string[]): Promise<string> {
    return roomToken(this.gateway, {
      room_name: 'lounge',
      user_name: name,
      ...(permissions && { permissions }),
    })
  }

  /** Closes all, also pages that were closed before. */
  async close(): Promise<void> {
    for (const page of this.#pages) await page.close().catch(() => {})
    await this.browser.stop()
    await this.gateway.stop()
  }
}

/** Opens a stage, runs a measurement, and closes the stage. */
export const onStage = async (
  options: GatewayOptions,
  measure: (stage: Stage) => Promise<void>,
): Promise<void> => {
  const stage = await Stage.open(options)
  try {
    await measure(stage)
  } finally {
    await stage.close()
  }
}

/** Id of the member of a page. */
export const memberIdOf = ({ wire }: SdkPage): string => wire.events('call.joined').at(-1)?.member_id

/** Rectangle of a member in a page's picture, as the latest layout says. Undefined: none. */
export const rectangleOf = ({ wire }: SdkPage, memberId: string): Rectangle | undefined => {
  const layout = wire.events('layout.changed').at(-1)?.layout
  const layers: (Rectangle & { readonly member_id?: string })[] = layout?.layers ?? []
  return layers.find(({ member_id }) => member_id === memberId) ?? (layout ? undefined : whole)
}
