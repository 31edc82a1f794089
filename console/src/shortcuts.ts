import type { Phone } from './phone.ts'
import type { Ui } from './views/ui.ts'

/** Whether an element takes typed text. */
export const takesText = (target: unknown): boolean =>
  target instanceof Element && target.matches('input:not([type=checkbox], [type=radio]), textarea, select')

/** Whether the user is writing: the focus must not move meanwhile. */
export const isTyping = (target: Element | null): boolean =>
  takesText(target) && (target as HTMLInputElement).value !== ''

const typesDigits = (event: KeyboardEvent): boolean =>
  /^[0-9*#]$/.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey && !takesText(event.target)

/** Follows the keyboard: shortcuts for calls, and digits in a call. Ends with `signal`. */
export const followKeys = (phone: Phone, ui: Ui, signal: AbortSignal): void => {
  const commands: Readonly<Record<string, () => void>> = {
    a: () => {
      const [waiting] = phone.incoming
      if (waiting) void phone.accept(waiting.id)
    },
    d: () => {
      const [waiting] = phone.incoming
      if (waiting) phone.reject(waiting.id)
      else phone.controls.hangup()
    },
    m: () => phone.controls.toggleMute(),
  }
  const pressed = (event: KeyboardEvent) => {
    const run = event.ctrlKey && event.shiftKey && commands[event.key.toLowerCase()]
    if (run) {
      event.preventDefault()
      run()
    } else if (event.key === '?' && !takesText(event.target)) ui.dialog.value = 'help'
    else if (typesDigits(event)) void phone.controls.press(event.key)
  }
  addEventListener('keydown', pressed, { signal })
}
