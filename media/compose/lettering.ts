import { glyphs, marksAbove, marksBelow, replacements } from './glyphs.ts'

/** Line of a text, in units of the font. */
interface Segment {
  readonly x: number
  readonly y: number
  readonly toX: number
  readonly toY: number
}

/** A letter as lines, with the space that it takes. */
interface Letter {
  readonly segments: readonly Segment[]
  readonly advance: number
}

/** Height of the font in units, with accents and descenders. */
export const fontUnits = 15
const strokeUnits = 1.35
/** Space between two letters, and between two words. */
const gapUnits = 2.8
const spaceUnits = 4
const markWidth = 4
/** Top of capitals and of small letters without ascender. */
const capitalTop = 3
const smallTop = 6
/** Number of lines that a bend becomes. */
const bendSteps = 5
/** Longest text that is drawn. */
const maxLetters = 64

type Point = readonly [x: number, y: number]

const pointsOf = (stroke: string): Point[] =>
  stroke.match(/../g)!.map((pair) => [Number.parseInt(pair[0]!, 36), Number.parseInt(pair[1]!, 36)] as const)

const between = ([ax, ay]: Point, [bx, by]: Point, share = 0.5): Point => [
  ax + (bx - ax) * share,
  ay + (by - ay) * share,
]

/** Returns the points of a quadratic spline: the first and the last point are on it, the others bend it. */
const bent = (points: readonly Point[]): Point[] => {
  const line: Point[] = [points[0]!]
  for (let at = 1; at < points.length - 1; at++) {
    const from = line.at(-1)!
    const to = at === points.length - 2 ? points[at + 1]! : between(points[at]!, points[at + 1]!)
    for (let step = 1; step <= bendSteps; step++) {
      const share = step / bendSteps
      line.push(between(between(from, points[at]!, share), between(points[at]!, to, share), share))
    }
  }
  return line
}

const segmentsOf = (drawing: string, dx = 0, dy = 0): Segment[] =>
  drawing.split(' ').flatMap((stroke) => {
    const points = stroke.startsWith('~') ? bent(pointsOf(stroke.slice(1))) : pointsOf(stroke)
    // A single point is a line without length.
    const ends = points.length === 1 ? points : points.slice(1)
    return ends.map(([toX, toY], at) => {
      const [x, y] = points[at]!
      return { x: x + dx, y: y + dy, toX: toX + dx, toY: toY + dy }
    })
  })

/** Returns a letter with its marks; undefined if it cannot be drawn. Unknown marks are left out. */
const compose = ([base = '', ...marks]: readonly string[]): Letter | undefined => {
  const isTopped = marks.some((mark) => mark in marksAbove)
  // Accents take the place of the dot.
  const shape = isTopped && base === 'i' ? 'ı' : isTopped && base === 'j' ? 'ȷ' : base
  const drawing = Object.hasOwn(glyphs, shape) ? glyphs[shape]! : undefined
  if (drawing === undefined) return undefined
  const segments = segmentsOf(drawing)
  const drawn = Math.max(...segments.map(({ x, toX }) => Math.max(x, toX)))
  const top = Math.min(...segments.map(({ y, toY }) => Math.min(y, toY)))
  // An accent may be wider than its letter.
  const width = isTopped ? Math.max(drawn, markWidth) : drawn
  const indent = (width - drawn) / 2
  const dx = (width - markWidth) / 2
  const rise = top < smallTop ? 0 : smallTop - capitalTop
  const shifted = segments.map(({ x, toX, ...line }) => ({ ...line, x: x + indent, toX: toX + indent }))
  for (const mark of marks) {
    const above = marksAbove[mark]
    const below = marksBelow[mark]
    if (above) shifted.push(...segmentsOf(above, dx, rise))
    if (below) shifted.push(...segmentsOf(below, dx))
  }
  return { segments: shifted, advance: width + gapUnits }
}

/** Returns the text in letters that can be drawn; `?` stands for each run of others. */
const drawable = (text: string): string[] => {
  const letters: string[] = []
  for (const each of text.normalize('NFC')) {
    if (/\s/u.test(each)) letters.push(' ')
    else if (compose([...each.normalize('NFD')])) letters.push(each)
    else {
      const small = each.toLowerCase()
      const [plain = ''] = small.normalize('NFD')
      const other = replacements.get(each) ?? replacements.get(small) ?? replacements.get(plain)
      if (other !== undefined)
        letters.push(...(each === small ? other : other[0]!.toUpperCase() + other.slice(1)))
      // Marks, joiners and signs of direction have no picture of their own.
      else if (!/[\p{M}\p{C}ЪЬъь]/u.test(each) && letters.at(-1) !== '?') letters.push('?')
    }
  }
  return letters.slice(0, maxLetters)
}

const space: Letter = { segments: [], advance: spaceUnits }
const ellipsis = compose(['…'])!

const lengthOf = (letters: readonly Letter[]): number =>
  letters.reduce((sum, { advance }) => sum + advance, -gapUnits)

/** A text as coverage from 0 to 255 of each pixel, in rows. */
export interface TextMask {
  readonly width: number
  readonly height: number
  readonly alpha: Uint8Array
}

/** Draws a line with round ends. */
const stroke = (mask: TextMask, line: Segment, radius: number): void => {
  const { x, y } = line
  const dx = line.toX - x
  const dy = line.toY - y
  const square = dx * dx + dy * dy
  const reach = radius + 1
  const left = Math.max(0, Math.floor(Math.min(x, line.toX) - reach))
  const right = Math.min(mask.width - 1, Math.ceil(Math.max(x, line.toX) + reach))
  const bottom = Math.min(mask.height - 1, Math.ceil(Math.max(y, line.toY) + reach))
  for (let row = Math.max(0, Math.floor(Math.min(y, line.toY) - reach)); row <= bottom; row++)
    for (let column = left; column <= right; column++) {
      const px = column + 0.5 - x
      const py = row + 0.5 - y
      const share = square === 0 ? 0 : Math.min(1, Math.max(0, (px * dx + py * dy) / square))
      const distance = Math.hypot(px - share * dx, py - share * dy)
      const coverage = Math.round(255 * Math.min(1, Math.max(0, radius + 0.5 - distance)))
      const at = row * mask.width + column
      if (coverage > mask.alpha[at]!) mask.alpha[at] = coverage
    }
}

/**
 * Draws a text. Accents are composed. Greek and Cyrillic letters become Latin ones. A question mark stands
 * for other letters. A text that is too long is cut, and ends with an ellipsis. The width is even.
 *
 * @param height of the font in pixels, with accents and descenders
 * @param maxWidth in pixels; at least that of the ellipsis is needed, else the mask is empty
 */
export const drawText = (text: string, height: number, maxWidth: number): TextMask => {
  const unit = height / fontUnits
  const radius = (strokeUnits * unit) / 2
  const margin = Math.ceil(radius + 1)
  const available = (maxWidth - 2 * margin) / unit
  const letters = drawable(text.trim()).map((each) =>
    each === ' ' ? space : (compose([...each.normalize('NFD')]) ?? space),
  )
  if (lengthOf(letters) > available) {
    while (letters.length > 0 && lengthOf([...letters, ellipsis]) > available) letters.pop()
    letters.push(ellipsis)
  }
  const length = lengthOf(letters)
  if (letters.length === 0 || length > available) return { width: 0, height, alpha: new Uint8Array(0) }
  const width = 2 * Math.ceil((length * unit) / 2 + margin)
  const mask = { width, height, alpha: new Uint8Array(width * height) }
  let pen = 0
  for (const { segments, advance } of letters) {
    const at = (x: number) => margin + (pen + x) * unit
    for (const { x, y, toX, toY } of segments)
      stroke(mask, { x: at(x), y: (y + 0.5) * unit, toX: at(toX), toY: (toY + 0.5) * unit }, radius)
    pen += advance
  }
  return mask
}
