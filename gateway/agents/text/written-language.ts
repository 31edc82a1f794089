import { primaryLanguage, wordList, wordsOf } from './words.ts'

/** Frequent words of languages in the Latin script; words that several of them share say little. */
const words: Readonly<Record<string, ReadonlySet<string>>> = Object.fromEntries(
  Object.entries({
    en: wordList(
      'the,and,you,your,is,are,can,for,with,what,how,have,please,thank,thanks,hello,yes,this,that,would,like',
      'help,today,good,morning,sorry,of,to,we,our,my,do,will,i,im',
    ),
    es: wordList(
      'el,los,las,y,usted,su,es,son,puedo,para,con,qué,cómo,por,favor,gracias,hola,sí,esto,una,le,ayudar,hoy',
      'buenos,buenas,días,tardes,lo,siento,del,al,mi,claro,está,tengo,quiere,cuál',
    ),
    de: wordList(
      'der,die,das,und,sie,ihr,ihre,ist,sind,kann,ich,für,mit,wie,bitte,danke,hallo,ja,nein,ein,eine,nicht',
      'guten,tag,morgen,heute,wir,haben,möchten,können,gerne,auf,zu,den,dem,ihnen,gut',
    ),
    fr: wordList(
      'le,les,et,vous,votre,est,sont,je,peux,pour,avec,comment,merci,bonjour,oui,ce,cette,une,des,aider',
      'aujourdhui,nous,mon,désolé,du,au,plaît,quel,quelle,bien,pas,dans,sur',
    ),
    it: wordList(
      'il,gli,lei,suo,è,sono,posso,per,con,che',
      'come,grazie,ciao,sì,questo,una,di,della,aiutarla,oggi,buongiorno',
      'mi,dispiace,nel,alla,vorrebbe,bene,salve,prego,qual',
    ),
    pt: wordList(
      'os,você,seu,sua,é,são,posso,para,com,que,como',
      'obrigado,obrigada,olá,sim,isso,uma,da,do,não,hoje,bom,boa',
      'dia,tarde,em,na,no,ajudar,desculpe,gostaria,qual',
    ),
    nl: wordList(
      'het,een,en,u,uw,is,zijn,kan,ik,voor,met',
      'wat,hoe,dank,hallo,ja,nee,dit,dat,goedemorgen,vandaag,helpen,wij',
      'hebben,graag,alstublieft,van,niet,goed',
    ),
    pl: wordList(
      'i,jest,są,mogę,dla,jak,proszę,dziękuję,cześć,tak,nie,dzień,dobry,pan,pani,w,na,się,czy,pomóc,to',
    ),
    sv: wordList('och,är,kan,jag,för,med,vad,hur,tack,hej,ja,nej,det,en,ett,du,vi,inte,hjälpa,idag,på,att'),
    tr: wordList(
      've,bir,bu,için,ile,ne,nasıl,lütfen,teşekkür,merhaba,evet,hayır,size,yardımcı,bugün,ben,siz,mi',
    ),
  }).map(([language, list]) => [language, new Set(list)]),
)

/** Scripts, with the languages that are written in each. */
const scripts: readonly (readonly [RegExp, readonly string[]])[] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/u, ['ja']],
  [/\p{Script=Hangul}/u, ['ko']],
  [/\p{Script=Han}/u, ['zh', 'yue', 'ja']],
  [/\p{Script=Cyrillic}/u, ['ru', 'uk', 'bg', 'sr', 'mk', 'kk']],
  [/\p{Script=Arabic}/u, ['ar', 'fa', 'ur']],
  [/\p{Script=Hebrew}/u, ['he']],
  [/\p{Script=Greek}/u, ['el']],
  [/\p{Script=Devanagari}/u, ['hi', 'mr', 'ne']],
  [/\p{Script=Thai}/u, ['th']],
]

/** Letters and marks of one language among those of {@link words}, which count as a word. */
const marks: readonly (readonly [RegExp, string])[] = [
  [/[¿¡ñ]/u, 'es'],
  [/ß/u, 'de'],
  [/[ãõ]/u, 'pt'],
  [/[łąęśż]/u, 'pl'],
  [/[ışğ]/u, 'tr'],
]

/** Maximum number of characters that are examined. */
const maxLength = 400

/**
 * Returns the language that a text is written in, of those with the tags (BCP 47): by its script, else by its
 * frequent words. Returns undefined if none of them is clear, or if another language could be meant.
 */
export const writtenLanguage = (text: string, tags: readonly string[]): string | undefined => {
  const sample = text.slice(0, maxLength)
  const script = scripts.find(([pattern]) => pattern.test(sample))
  if (script) return onlyOne(tags.filter((tag) => script[1].includes(primaryLanguage(tag))))
  const found = wordsOf(sample)
  const scored = tags
    .map((tag) => ({ tag, score: scoreOf(primaryLanguage(tag), sample.toLowerCase(), found) }))
    .sort((a, b) => b.score - a.score)
  const [best, second] = scored
  if (!best || best.score === 0 || best.score === second?.score) return undefined
  return best.tag
}

/** Number of words and marks of a language in a text. */
const scoreOf = (language: string, text: string, found: readonly string[]): number => {
  const known = words[language]
  if (!known) return 0
  const extra = marks.filter(([pattern, each]) => each === language && pattern.test(text)).length
  return found.filter((word) => known.has(word)).length + extra
}

const onlyOne = (tags: readonly string[]): string | undefined => (tags.length === 1 ? tags[0] : undefined)
