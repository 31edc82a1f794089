const openings = ['<think>', '<thinking>'] as const
const closings = ['</think>', '</thinking>'] as const

/**
 * Removes the thoughts of a model from its text: all between `<think>` and `</think>`, or `<thinking>`. The
 * tags may be split over pieces. Takes linear time.
 */
export class SpokenText {
  #isThought = false
  /** End of the text so far that may be the beginning of a tag. */
  #held = ''

  /** Returns the part of the text so far that is certainly spoken, and was not returned before. */
  push(piece: string): string {
    let text = this.#held + piece
    let spoken = ''
    for (;;) {
      const tag = firstOf(text, this.#isThought ? closings : openings)
      if (!tag) break
      if (!this.#isThought) spoken += text.slice(0, tag.at)
      text = text.slice(tag.end)
      this.#isThought = !this.#isThought
    }
    const held = heldBack(text, this.#isThought ? closings : openings)
    this.#held = text.slice(text.length - held)
    return this.#isThought ? spoken : spoken + text.slice(0, text.length - held)
  }

  /** Returns the rest. */
  end(): string {
    const rest = this.#isThought ? '' : this.#held
    this.#held = ''
    return rest
  }
}

const firstOf = (
  text: string,
  tags: readonly string[],
): { readonly at: number; readonly end: number } | undefined => {
  let first: { at: number; end: number } | undefined
  for (const tag of tags) {
    const at = text.indexOf(tag)
    if (at >= 0 && (!first || at < first.at)) first = { at, end: at + tag.length }
  }
  return first
}

/** Returns the length of the longest end of `text` with which one of the tags begins. */
const heldBack = (text: string, tags: readonly string[]): number => {
  const last = text.lastIndexOf('<')
  if (last < 0) return 0
  const end = text.slice(last)
  return tags.some((tag) => tag.startsWith(end)) ? end.length : 0
}
