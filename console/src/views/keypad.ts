import { button, element } from '../dom.ts'

const keys = [
  ['1', ''],
  ['2', 'ABC'],
  ['3', 'DEF'],
  ['4', 'GHI'],
  ['5', 'JKL'],
  ['6', 'MNO'],
  ['7', 'PQRS'],
  ['8', 'TUV'],
  ['9', 'WXYZ'],
  ['*', ''],
  ['0', '+'],
  ['#', ''],
] as const

const names: Readonly<Record<string, string>> = { '*': 'star', '#': 'hash' }

/** Creates the twelve keys. `testId` is the prefix of each name. */
export const keypad = (press: (key: string) => void, testId: string): HTMLElement =>
  element(
    'div',
    { class: 'keypad', role: 'group', 'aria-label': 'Keypad' },
    ...keys.map(([key, letters]) =>
      button(
        { class: 'key', 'aria-label': names[key] ?? key, 'data-testid': `${testId}-${names[key] ?? key}` },
        () => press(key),
        element('b', {}, key),
        element('small', { 'aria-hidden': 'true' }, letters),
      ),
    ),
  )
