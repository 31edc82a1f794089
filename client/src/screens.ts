import type { CallSetup } from './call-setup.ts'
import { ClientError } from './errors.ts'
import type { ScreenShareOptions } from './media-types.ts'
import type { ScreenShare } from './screen-share.ts'
import { stopTracks } from './stop-tracks.ts'

/** Code that is loaded with the first screen. */
type ScreenCode = typeof import('./screen-share.ts')

/** Screens that one call shares. */
export class Screens {
  readonly #setup: CallSetup
  readonly #screens = new Set<ScreenShare>()
  #endReason: ClientError | undefined
  readonly #load: () => Promise<ScreenCode>

  /** `load`: loads the code of a shared screen. */
  constructor(setup: CallSetup, load: () => Promise<ScreenCode> = () => import('./screen-share.ts')) {
    this.#setup = setup
    this.#load = load
  }

  get all(): readonly ScreenShare[] {
    return [...this.#screens]
  }

  /**
   * Lets the user choose another screen, and shares it. Rejects like {@link ScreenShare.start}, and with
   * `screen_failed` if the code of shared screens cannot be loaded.
   */
  async start(
    { userVariables, video = true, audio = false, ...others }: ScreenShareOptions,
    memberId: string | undefined,
    nodeId: string | undefined,
  ): Promise<ScreenShare> {
    const { id, to, signalling, environment, log, options: media } = this.#setup
    // Before the code is loaded: browsers ask the user only right after a click.
    const chosen = environment.getDisplayMedia({ ...others, video, audio } as DisplayMediaStreamOptions)
    chosen.catch(() => {})
    const { ScreenShare } = await this.#load().catch((cause: unknown) => {
      chosen.then(stopTracks, () => {})
      throw new ClientError('screen_failed', 'The screen could not be shared.', { cause })
    })
    const screen: ScreenShare = new ScreenShare({
      id: environment.uuid(),
      call: { id, to, memberId },
      nodeId,
      disableUdp: media.disableUdpIceServers,
      userVariables,
      chosen,
      signalling,
      environment,
      log,
      gone: () => this.#screens.delete(screen),
    })
    this.#screens.add(screen)
    if (this.#endReason) screen.drop(this.#endReason)
    await screen.start()
    return screen
  }

  /** Ends all screens. The gateway is informed unless it no longer has the call (`known` is false). */
  end(known: boolean, reason: ClientError): void {
    this.#endReason = reason
    for (const screen of this.all)
      if (known) void screen.leave()
      else screen.drop(reason)
  }
}
