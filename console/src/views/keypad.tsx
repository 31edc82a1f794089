import { texts } from '../texts/language.ts'
import { laterTexts } from '../texts/later.ts'

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

const ids: Readonly<Record<string, string>> = { '*': 'star', '#': 'hash' }

/** The twelve keys. `testId` is the prefix of each name. */
export const Keypad = ({
  press,
  testId,
}: {
  readonly press: (key: string) => void
  readonly testId: string
}) => {
  const t = texts.value
  const names: Readonly<Record<string, string>> = {
    '*': `* ${laterTexts().star}`,
    '#': `# ${laterTexts().hash}`,
  }
  return (
    <div class="keypad" role="group" aria-label={t.keypad}>
      {keys.map(([key, letters]) => (
        <button
          key={key}
          type="button"
          class="key"
          aria-label={names[key] ?? key}
          data-letters={letters || undefined}
          data-testid={`${testId}-${ids[key] ?? key}`}
          onClick={() => press(key)}
        >
          <b>{key}</b>
        </button>
      ))}
    </div>
  )
}
