import { composerReason } from '../../media/compose/pictures.ts'
import type { Carrier } from './carrier.ts'
import { tonesTogether } from './hearing.ts'
import { tonesIn } from './page-audio.ts'
import { type Colour, coloursIn, type SeenColour, screenColour, screenTone } from './page-video.ts'
import { layoutOf, memberIdOf, seesLayers } from './room-picture.ts'
import type { SdkPage } from './sdk-page.ts'
import type { TrackPage } from './track-page.ts'
import { until } from './until.ts'

const composes = composerReason() === undefined

/** Pictures that the members of a room are to see. */
interface Scene {
  /** Colour of each picture by the id of its member; `grey`: a muted camera. */
  readonly pictures: ReadonlyMap<unknown, SeenColour>
  /** Id of the member of a shared screen; undefined without one. */
  readonly screen: unknown
  readonly layout: string
}

/** A member of a room with a tone of its own, and what it receives. */
export interface RoomPeer {
  readonly name: string
  readonly tone: number
  /** Colour of its camera; absent for a telephone. */
  readonly camera?: Colour
  /** Id of its member; undefined for a telephone. */
  readonly id?: unknown
  /** Returns those of the given frequencies that it hears. */
  hears(frequencies: readonly number[]): Promise<readonly number[]> | readonly number[]
  /** Waits until it sees the scene. Absent for a telephone. */
  sees?(scene: Scene): Promise<void>
}

/** A telephone. */
export const phonePeer = (name: string, tone: number, { media }: Carrier): RoomPeer => ({
  name,
  tone,
  hears: (frequencies) => tonesTogether(media.packets, frequencies),
})

/** Waits until the picture of the speaker is the one that the layout names. */
const seesSpeaker = async (page: SdkPage, pictures: Scene['pictures']): Promise<void> => {
  const compare = async () => {
    const shown = layoutOf(page).layers?.[0]?.member_id
    return [pictures.get(shown), ...(await coloursIn(page.page, [{ x: 50, y: 25 }]))]
  }
  await until('the true picture', compare, ([wanted, seen]) => wanted === seen)
}

/** A page with the published SDK: sees the room's picture. */
export const pagePeer = (name: string, tone: number, camera: Colour, page: SdkPage): RoomPeer => ({
  name,
  tone,
  camera,
  id: memberIdOf(page),
  hears: (frequencies) => tonesIn(page.page, frequencies),
  sees: ({ pictures, screen, layout }) => {
    if (!composes) return seesSpeaker(page, pictures)
    const isSingle = screen !== undefined || layout === '1x1'
    return seesLayers(page, { name: layout, count: isSingle ? 1 : pictures.size, colours: pictures })
  },
})

/** A page with the gateway's own SDK: sees each camera on its own. */
export const trackPeer = (name: string, tone: number, camera: Colour, page: TrackPage): RoomPeer => ({
  name,
  tone,
  camera,
  id: page.id,
  hears: (frequencies) => tonesIn(page.page, frequencies),
  sees: async ({ pictures }) => {
    const others = [...pictures].filter(([id, colour]) => id !== page.id && colour !== 'grey')
    const wanted = others.map(([id, colour]) => `${id} ${colour}`).sort()
    const look = async () =>
      (await page.tracks()).map(({ memberId, colour }) => `${memberId} ${colour}`).sort()
    await until(`${name} sees ${wanted}`, look, (seen) => `${seen}` === `${wanted}`)
  },
})

/** Members of a room, and their states as the changes of a test leave them. */
export class RoomOfPeers {
  readonly present = new Set<RoomPeer>()
  /** Members whose sound is muted. */
  readonly muted = new Set<RoomPeer>()
  /** Members whose camera is muted. */
  readonly hidden = new Set<RoomPeer>()
  /** Member that shares its screen with sound, and the id of the screen's member. */
  shared: { readonly by: RoomPeer; readonly id: unknown } | undefined
  layout = 'grid-responsive'
  readonly #tones: readonly number[]

  /** `tones`: of all members that may join. */
  constructor(tones: readonly number[]) {
    this.#tones = [...tones, screenTone]
  }

  /**
   * Waits until each member hears exactly the others that are not muted, and the screens of others. Each
   * picture is then in its place, too.
   */
  async isTrue(change: string): Promise<void> {
    const scene: Scene = { pictures: this.#pictures(), screen: this.shared?.id, layout: this.layout }
    const checks = [...this.present].flatMap((peer) => [this.#isHeardBy(peer), peer.sees?.(scene)])
    await Promise.all(checks).catch((error: Error) => {
      throw new Error(`${change}: ${error.message}`, { cause: error })
    })
  }

  #pictures(): Scene['pictures'] {
    const pictures = new Map<unknown, SeenColour>()
    for (const peer of this.present)
      if (peer.camera) pictures.set(peer.id, this.hidden.has(peer) ? 'grey' : peer.camera)
    if (this.shared) pictures.set(this.shared.id, screenColour)
    return pictures
  }

  async #isHeardBy(peer: RoomPeer): Promise<void> {
    const others = [...this.present].filter((other) => other !== peer && !this.muted.has(other))
    const wanted = new Set(others.map(({ tone }) => tone))
    if (this.shared && this.shared.by !== peer) wanted.add(screenTone)
    const expected = this.#tones.filter((tone) => wanted.has(tone))
    await until(
      `${peer.name} hears ${expected}`,
      () => peer.hears(this.#tones),
      (heard) => `${heard}` === `${expected}`,
    )
  }
}
