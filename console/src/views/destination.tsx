import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { type Suggestion, suggest } from '../suggestions.ts'
import { texts } from '../texts/language.ts'
import { Icon } from './icon.tsx'
import { usePage } from './page.ts'
import { Avatar } from './parts.tsx'

/** Properties of a {@link DestinationBox}. */
export interface DestinationProps {
  readonly id: string
  readonly testId: string
  readonly value: string
  readonly change: (value: string) => void
  /** Called when the user chooses a suggestion. */
  readonly choose: (suggestion: Suggestion) => void
  readonly fault: string
  /** Buttons inside of the box. */
  readonly children?: ComponentChildren
}

const useSuggestions = (value: string, choose: (suggestion: Suggestion) => void) => {
  const { finder, recents, account } = usePage()
  const [open, setOpen] = useState(false)
  const [at, setAt] = useState(-1)
  const list = open ? suggest(value, recents.list, finder.list, account.address) : []
  const take = (suggestion: Suggestion) => {
    setOpen(false)
    choose(suggestion)
  }
  const pressed = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const chosen = list[at]
    if (step && list.length > 0) {
      event.preventDefault()
      setAt((at + step + list.length) % list.length)
    } else if (event.key === 'Enter' && chosen) {
      event.preventDefault()
      take(chosen)
    } else if (event.key === 'Escape' && list.length > 0) {
      event.preventDefault()
      setOpen(false)
    }
  }
  const typed = (text: string) => {
    setOpen(true)
    setAt(-1)
    finder.search(text, undefined)
  }
  return { list, at, take, pressed, typed, close: () => setOpen(false) }
}

/** Box for a destination, with suggestions from people and past calls (ARIA combobox pattern). */
export const DestinationBox = ({ id, testId, value, change, choose, fault, children }: DestinationProps) => {
  const t = texts.value
  const { list, at, take, pressed, typed, close } = useSuggestions(value, choose)
  const box = useRef<HTMLDivElement>(null)
  const left = (event: FocusEvent) => {
    if (!box.current?.contains(event.relatedTarget as Node | null)) close()
  }
  return (
    <div ref={box} class="destination" onFocusOut={left}>
      <input
        id={id}
        type="text"
        inputMode="url"
        role="combobox"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        placeholder={t.whoToCall}
        aria-label={t.whoToCall}
        aria-autocomplete="list"
        aria-expanded={list.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={at >= 0 && list.length > 0 ? `${id}-${at}` : undefined}
        aria-invalid={fault !== ''}
        aria-describedby={`${id}-fault`}
        data-testid={testId}
        data-focus={testId === 'dial-to' ? 'dial' : undefined}
        value={value}
        onInput={({ currentTarget }) => {
          change(currentTarget.value)
          typed(currentTarget.value)
        }}
        onKeyDown={pressed}
      />
      {children}
      <p class="aside" role="status">
        {list.length > 0 ? t.suggestionCount(list.length) : ''}
      </p>
      <div
        class="suggestions"
        id={`${id}-list`}
        role="listbox"
        aria-label={t.suggestions}
        hidden={list.length === 0}
      >
        {list.map((found, index) => (
          // The box takes the keys of the list.
          // biome-ignore lint/a11y/useKeyWithClickEvents: ARIA combobox pattern
          <div
            key={found.to}
            tabIndex={-1}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === at}
            data-testid="suggestion"
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => take(found)}
          >
            <Avatar name={found.name} />
            <span class="entry-name">{found.name}</span>
            <span class="quiet">{found.number}</span>
            {found.from === 'history' && <Icon name="clock" />}
          </div>
        ))}
      </div>
      <p id={`${id}-fault`} class="fault" role="alert">
        {fault}
      </p>
    </div>
  )
}
