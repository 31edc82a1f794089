import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Line } from '../lines.ts'
import { laterTexts } from '../texts/later.ts'
import type { Said } from '../transcript.ts'

/** Distance from the end, in pixels, within which a reader follows new entries. */
const followPx = 40

/**
 * Transcript of a call with a voice agent. Complete entries are a log for assistive technology; the text that
 * still changes is not announced.
 */
export const TranscriptView = ({ line: { said } }: { readonly line: Line }) => {
  const scroll = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const t = laterTexts()
  useLayoutEffect(() => {
    const shown = scroll.current
    if (shown && isAtEnd.current) shown.scrollTop = shown.scrollHeight
  }, [said])
  const follow = () => {
    const shown = scroll.current
    if (shown) isAtEnd.current = shown.scrollHeight - shown.scrollTop - shown.clientHeight < followPx
  }
  return (
    <section class="transcript" aria-labelledby="transcript-title" data-testid="transcript">
      <h3 id="transcript-title">{t.transcript}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it */}
      <div ref={scroll} class="said-list" tabIndex={0} onScroll={follow}>
        <div role="log" aria-live="polite" aria-labelledby="transcript-title">
          {said
            .filter(({ isFinal }) => isFinal)
            .map((entry) => (
              <Entry key={entry.id} entry={entry} />
            ))}
        </div>
        {said
          .filter(({ isFinal, text }) => !isFinal && text !== '')
          .map((entry) => (
            <Entry key={entry.id} entry={entry} />
          ))}
      </div>
    </section>
  )
}

const Entry = ({ entry: { side, text, isFinal, isInterrupted } }: { readonly entry: Said }) => {
  const t = laterTexts()
  return (
    <p
      class={`said-by ${side} ${isFinal ? '' : 'open'}`}
      data-testid="said"
      data-side={side}
      data-final={isFinal}
    >
      <b>{side === 'caller' ? t.you : t.agent}</b>
      <span dir="auto" data-testid="said-text">
        {text}
      </span>
      {isInterrupted && <i>{t.interrupted}</i>}
    </p>
  )
}
