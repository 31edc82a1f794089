import { type ConfigFault, explanationOf } from './faults.ts'

/** Options of {@link renderFaults}. */
export interface RenderOptions {
  /** Whether the text is coloured by ANSI sequences. */
  readonly colour: boolean
  /** Returns the name of a file as the operator knows it; default the name in the fault. */
  readonly nameOf?: (file: string) => string
}

/** Maximum length of a line of the file in the text; longer ones are cut around the fault. */
const maxWidth = 110

/**
 * Returns faults as text for a person: the message, the place, the line of the file with the faulty text
 * underlined, and the hint.
 */
export const renderFaults = (faults: readonly ConfigFault[], options: RenderOptions): string =>
  faults.map((fault) => renderFault(fault, options)).join('\n')

const renderFault = (fault: ConfigFault, { colour, nameOf = (file) => file }: RenderOptions): string => {
  const { severity, code, path, line, column, hint } = fault
  const paint = colour ? painted : plain
  const width = String(line).length
  const bar = paint('blue', `${' '.repeat(width)} |`)
  const message = explanationOf({ ...fault, hint: undefined })
  const kind = paint(severity === 'error' ? 'red' : 'yellow', `${severity}[${code}]`)
  const title = `${kind}${paint('bold', `: ${path ? `${path}: ` : ''}${message}`)}`
  const place = `${' '.repeat(width)}${paint('blue', '-->')} ${nameOf(fault.file)}:${line}:${column}`
  const excerpt = excerptOf(fault)
  return [
    title,
    place,
    ...(excerpt
      ? [
          bar,
          `${paint('blue', `${line} |`)} ${excerpt.text}`,
          `${bar} ${paint(severity === 'error' ? 'red' : 'yellow', excerpt.marks)}`,
        ]
      : []),
    ...(hint ? [`${' '.repeat(width)} ${paint('blue', '=')} hint: ${hint}`] : []),
    '',
  ].join('\n')
}

/** Returns the line of a fault and the marks below it, cut to {@link maxWidth} around the fault. */
const excerptOf = ({ source, column, length }: ConfigFault) => {
  if (source === undefined) return undefined
  // Tabs and other control characters would move the marks, or control the terminal.
  const text = source.replaceAll('\t', '→').replaceAll(/\p{Cc}/gu, '?')
  const start = Math.max(0, Math.min(column - 20, text.length - maxWidth))
  const cut = text.length > maxWidth
  const from = cut && start > 0 ? start : 0
  const end = from + maxWidth < text.length ? '…' : ''
  const shown = `${from > 0 ? '…' : ''}${text.slice(from, from + maxWidth)}${end}`
  const lead = column - 1 - from + (from > 0 ? 1 : 0)
  const marked = Math.max(1, Math.min(length, shown.length - lead))
  return { text: shown, marks: `${' '.repeat(Math.max(0, lead))}${'^'.repeat(marked)}` }
}

const codes = { red: '31;1', yellow: '33;1', blue: '34;1', bold: '1' } as const

type Paint = (style: keyof typeof codes, text: string) => string

const painted: Paint = (style, text) => `\u001b[${codes[style]}m${text}\u001b[0m`

const plain: Paint = (_style, text) => text
