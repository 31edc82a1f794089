import { argumentName, type Command } from '../command.ts'
import { type CompletedValue, globalOptions, namedOptions, quoted, wordsOf } from './completion-words.ts'

/** Returns the completion script for zsh, which is also a file for a folder of `fpath`. */
export const zshScript = (commands: readonly Command[]): string => `#compdef trunkline
# Completion of trunkline for zsh, printed by \`trunkline completion zsh\`.
_trunkline() {
  local context state state_descr line
  typeset -A opt_args
  local -a commands=(
${commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`).join('\n')}
  )
  _arguments -C \\
${globalOptions.map(([name, effect]) => `    ${quoted(`(- *)${name}[${effect}]`)} \\`).join('\n')}
    '1: :->command' '*:: :->words'
  case $state in
    command) _describe command commands ;;
    words)
      case $words[1] in
${commands.map((command) => commandCase(command, commands)).join('\n')}
      esac ;;
  esac
}
# A file of fpath is the body of the function; a script that is sourced only defines it.
if [[ $funcstack[1] = _trunkline ]]; then _trunkline "$@"; else compdef _trunkline trunkline; fi
`

const commandCase = (command: Command, commands: readonly Command[]): string => {
  const options = namedOptions(command).map(([name, option]) => {
    const value = option.value === undefined ? '' : `:${option.value}:${action(option, commands)}`
    return `${option.repeats ? '*' : ''}${name}[${plain(option.description)}]${value}`
  })
  const words = Object.entries(command.arguments).map(
    ([key, argument], index) => `${index + 1}:${argumentName(key)}:${action(argument, commands)}`,
  )
  const specifications = [...options, '(- *)--help[print this help]', ...words]
  return `        ${command.name}) _arguments ${specifications.map(quoted).join(' ')} ;;`
}

/** Returns a text with the signs escaped that separate the parts of a specification. */
const plain = (text: string): string => text.replace(/[:[\]\\]/g, (sign) => `\\${sign}`)

/** Returns the part of a specification that completes a value. */
const action = (value: CompletedValue, commands: readonly Command[]): string => {
  const words = wordsOf(value, commands)
  if (words.length > 0) return `(${words.join(' ')})`
  if (value.completes === 'file') return '_files'
  return value.completes === 'folder' ? '_files -/' : '( )'
}
