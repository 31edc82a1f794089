import { type Colour, coloursIn, type SeenColour } from './page-video.ts'
import type { SdkPage } from './sdk-page.ts'
import { until } from './until.ts'

/** Rectangle of a layout event. */
interface LayerBody {
  readonly member_id?: string
  readonly visible: boolean
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Returns the latest layout that a page has received. */
export const layoutOf = ({
  wire,
}: SdkPage): { readonly name?: string; readonly layers?: readonly LayerBody[] } =>
  wire.events('layout.changed').at(-1)?.layout ?? {}

/** Place by which the colour of a rectangle is known: above the name in its middle. */
const placeIn = ({ x, y, width, height }: LayerBody) => ({ x: x + width / 2, y: y + height / 4 })

/** Rectangles with a member, without those that a later one covers. */
const shownLayers = (layers: readonly LayerBody[]): readonly LayerBody[] => {
  const taken = layers.filter(({ member_id }) => member_id !== undefined)
  const covers = (above: LayerBody, place: { readonly x: number; readonly y: number }) =>
    above.x < place.x &&
    place.x < above.x + above.width &&
    above.y < place.y &&
    place.y < above.y + above.height
  return taken.filter((layer, at) => !taken.slice(at + 1).some((above) => covers(above, placeIn(layer))))
}

/** Layout that a page shall see. */
export interface WantedPicture {
  readonly name: string
  /** Number of rectangles with a member that nothing covers. */
  readonly count: number
  /** Colour of each member's picture, by member id; `grey`: a plain tile. */
  readonly colours: ReadonlyMap<unknown, SeenColour>
}

/** Waits until a page has a layout, and each of its rectangles has the colour of its member. */
export const seesLayers = async (page: SdkPage, { name, count, colours }: WantedPicture): Promise<void> => {
  const compare = async () => {
    const layout = layoutOf(page)
    const layers = shownLayers(layout.layers ?? [])
    const wanted = layers.map(({ member_id }) => colours.get(member_id))
    return { name: layout.name, wanted, seen: await coloursIn(page.page, layers.map(placeIn)) }
  }
  await until(
    `${count} true layers of ${name}`,
    compare,
    (found) => found.name === name && found.wanted.length === count && `${found.wanted}` === `${found.seen}`,
  )
}

/** Id of the member that a page became by its last call. */
export const memberIdOf = ({ wire }: SdkPage): unknown => wire.events('call.joined').at(-1)?.member_id

/** Returns the colours of the cameras of pages that are members of a room. */
export const camerasOf = (
  pages: readonly SdkPage[],
  cameras: readonly Colour[],
): ReadonlyMap<unknown, Colour> => new Map(pages.map((page, at) => [memberIdOf(page), cameras[at]!] as const))
