/** Returns our name for a function that users know by another name; undefined for a name that is not in the table. */
export function familiarFunction(name: string): string | undefined {
  return ours.get(name.toLowerCase());
}

/** Each entry has our name first, and then the names in other languages. */
const ours: ReadonlyMap<string, string> = new Map(
  Object.entries({
    upper: "toUpperCase toUpper uppercase upperAscii ucase",
    lower: "toLowerCase toLower lowercase lowerAscii lcase",
    trim: "strip",
    size: "length len count",
    contains: "includes indexOf",
    exists: "some any",
    all: "every",
    replace: "replaceAll sub gsub",
    distinct: "unique uniq toSet",
    sort: "sorted orderBy",
    text: "toString str String.format toJson stringify jsonToString JSON.stringify",
    json: "parse parseJson fromJson stringToJson JSON.parse",
    int: "parseInt toInt floor toNumber",
    double: "parseFloat float number toFloat",
    merge: "assign jsonMerge concatObjects",
    has: "exists_path isPresent defined isDefined",
    timestamp: "date parseDate toDate",
  }).flatMap(([name, theirs]) => theirs.split(" ").map((word) => [word.toLowerCase(), name] as const)),
);
