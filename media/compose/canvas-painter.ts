import type { CanvasSize } from '../types.ts'
import { captionOf, drawLabel, type NameLabel, titleOf } from './name-label.ts'
import { canvasBytes, type PicturesAddon } from './pictures.ts'
import { containedIn, overlaps, type PixelRectangle, type Tile } from './tiles.ts'
import type { VideoSource } from './video-source.ts'

/** Colours as y, u and v. */
const background = Uint8Array.of(24, 128, 128)
const plain = Uint8Array.of(48, 128, 128)

/** Source of a tile and the number of its picture, as drawn last. */
interface DrawnTile {
  readonly source: VideoSource | undefined
  readonly picture: number | undefined
}

/** Names of a tile, drawn when they are needed first. */
interface TileNames {
  caption?: NameLabel | undefined
  title?: NameLabel | undefined
}

/** Identifies the names of a tile: equal ones are drawn once. */
const namesKey = ({ name, isCaptioned, width, height }: Tile): string =>
  JSON.stringify([name, isCaptioned, width, height])

/** A canvas with its tiles. Only changed tiles are drawn, and those above them. */
export class CanvasPainter {
  readonly bytes: Uint8Array
  readonly size: CanvasSize
  readonly #addon: PicturesAddon
  readonly #place = new Int32Array(4)
  #tiles: readonly Tile[] = []
  #names = new Map<string, TileNames>()
  #drawn: (DrawnTile | undefined)[] = []
  #isNew = true

  constructor(addon: PicturesAddon, size: CanvasSize) {
    this.#addon = addon
    this.size = size
    this.bytes = new Uint8Array(canvasBytes(size.width, size.height))
  }

  /** Replaces the tiles; everything is drawn next time. */
  show(tiles: readonly Tile[]): void {
    this.#tiles = tiles
    const known = this.#names
    this.#names = new Map(tiles.map((tile) => [namesKey(tile), known.get(namesKey(tile)) ?? {}]))
    this.#drawn = []
    this.#isNew = true
  }

  /** Draws what has changed. */
  paint(sourceOf: (memberId: string) => VideoSource | undefined): void {
    if (this.#isNew) this.#fill({ x: 0, y: 0, ...this.size }, background)
    this.#isNew = false
    const painted: Tile[] = []
    for (const [at, tile] of this.#tiles.entries()) {
      const source = tile.isVisible ? sourceOf(tile.memberId) : undefined
      const drawn = this.#drawn[at]
      const isChanged = drawn?.source !== source || drawn?.picture !== source?.pictures || drawn === undefined
      if (!isChanged && !painted.some((below) => overlaps(below, tile))) continue
      this.#drawTile(tile, source)
      this.#drawn[at] = { source, picture: source?.pictures }
      painted.push(tile)
    }
  }

  #drawTile(tile: Tile, source: VideoSource | undefined): void {
    const size = source?.size()
    if (!size || tile.fit === 'contain') this.#fill(tile, plain)
    if (source && size) this.#draw(tile.fit === 'contain' ? containedIn(tile, size) : tile, source)
    const label = this.#labelOf(tile, size !== undefined)
    if (label) drawLabel(this.bytes, this.size, tile, label)
  }

  #labelOf(tile: Tile, hasPicture: boolean): NameLabel | undefined {
    const names = this.#names.get(namesKey(tile))
    if (!names || tile.name === undefined) return undefined
    if (!hasPicture) {
      if (!('title' in names)) names.title = titleOf(tile)
      return names.title
    }
    if (!('caption' in names)) names.caption = captionOf(tile)
    return names.caption
  }

  #draw(at: PixelRectangle, source: VideoSource): void {
    const { width, height } = this.size
    this.#addon.draw(this.bytes, width, height, this.#placed(at), source.decoder)
  }

  #fill(at: PixelRectangle, colour: Uint8Array): void {
    const { width, height } = this.size
    this.#addon.fill(this.bytes, width, height, this.#placed(at), colour)
  }

  #placed({ x, y, width, height }: PixelRectangle): Int32Array {
    this.#place.set([x, y, width, height])
    return this.#place
  }
}
