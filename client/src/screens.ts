import type { CallSetup } from './call-setup.ts'
import type { ClientError } from './errors.ts'
import type { ScreenShareOptions } from './media-types.ts'
import { ScreenShare } from './screen-share.ts'

/** Screens that one call shares. */
export class Screens {
  readonly #setup: CallSetup
  readonly #screens = new Set<ScreenShare>()

  constructor(setup: CallSetup) {
    this.#setup = setup
  }

  get all(): readonly ScreenShare[] {
    return [...this.#screens]
  }

  /** Shares another screen. Rejects like {@link ScreenShare.start}. */
  async start(
    options: ScreenShareOptions,
    memberId: string | undefined,
    nodeId: string | undefined,
  ): Promise<ScreenShare> {
    const { id, to, signalling, environment, log, options: media } = this.#setup
    const screen: ScreenShare = new ScreenShare({
      id: environment.uuid(),
      call: { id, to, memberId },
      nodeId,
      disableUdp: media.disableUdpIceServers,
      options,
      signalling,
      environment,
      log,
      gone: () => this.#screens.delete(screen),
    })
    this.#screens.add(screen)
    await screen.start()
    return screen
  }

  /** Ends all screens. The gateway is informed unless it no longer has the call (`known` is false). */
  end(known: boolean, reason: ClientError): void {
    for (const screen of this.all)
      if (known) void screen.leave()
      else screen.drop(reason)
  }
}
