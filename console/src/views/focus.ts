import type { Call } from '@trunkline/client'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { isTyping } from '../shortcuts.ts'
import type { Page } from './page.ts'

interface Shown {
  readonly waiting: string | undefined
  readonly call: Call | undefined
  readonly answered: boolean
}

const find = (name: string): HTMLElement | null => document.querySelector(`[data-focus="${name}"]`)

// On a touch screen the focus in a text box opens the keyboard, which covers the page.
const isTouch = (): boolean => matchMedia('(pointer: coarse)').matches

const isVisible = (element: Element | null | undefined): element is HTMLElement =>
  element instanceof HTMLElement &&
  element.isConnected &&
  element.checkVisibility() &&
  element !== document.body

/**
 * Moves the focus with the calls: to *Answer* when a call comes in, and to *Hang up* when it starts. After
 * the call it returns to the user's place. A user who is typing keeps the focus.
 */
export const useCallFocus = ({ phone }: Page): void => {
  const shown = useRef<Shown>({ waiting: undefined, call: undefined, answered: false })
  const origin = useRef<Element | null>(null)
  useLayoutEffect(() => {
    const before = shown.current
    const waiting = phone.incoming[0]?.id
    // Attempts to join a room are placed by the page itself, and leave the focus in place.
    const call = phone.isWaiting ? undefined : phone.current?.call
    const answered = call?.active ?? false
    shown.current = { waiting, call, answered }
    const isNew = waiting !== undefined && waiting !== before.waiting
    const isOther = call !== before.call || answered !== before.answered
    if (!isNew && !isOther && waiting === before.waiting) return
    const active = document.activeElement
    if (document.querySelector('dialog[open]') || isTyping(active)) return
    if (before.waiting === undefined && before.call === undefined) origin.current = active
    if (isNew) find('answer')?.focus()
    else if (call) (isOther || !isVisible(active)) && find('hangup')?.focus()
    else if (isVisible(origin.current)) origin.current.focus()
    else find(isTouch() ? 'stage' : 'dial')?.focus()
  })
}
