"""Owns the words that errors of any library are made of: a short text of these alone says nothing about whose it is."""

_WORDS = """
able algorithm all allowed already and another any arg argument arguments array attribute attributes available bad
bare base been before bool both but bytes call called can cannot char character class code command config
configuration connection contain contains content conversion convert converted could count create current data
decode default defined device dict dictionary different dimension dimensions directory does doesn don double dtype
duplicate duration each either element elements empty encoding end endpoint entry enum error errors exactly exceeded
exception exist exists expected extension fail failed failure field fields file filename files find first float for
format found from function get given global got greater group handler has hash have header implement implemented
incompatible incorrect index indices initialized input inputs instance int integer integers internal into invalid
item items iterable iterator its json key keys kind label last least len length less level line list load loaded
long longer lookup main mapping match matching max maximum message method min minimum mismatch missing mode model
module more multiple must name named names need needs negative new next non none not nothing null number object
objects offset one only open operation operator option options order other out output outputs over package parameter
parameters parse parsing part pass passed path platform port positive possible process property protocol provide
provided range reached read received recognized register registered request requests require required requires
resource response result return returned returns root run running same schema second seconds sequence server service
set shape should sign single size sizes some source specified specify start started state status step still str
string strings subclass subclasses such support supported supports take target task tensor test than that the there
this thread time timed timeout token too tuple two type types unable unavailable undefined unexpected unicode unique
unit unknown unreachable unrecognized unsupported until url use used using valid value values variable version wait
was were when which while will with without write wrong yet you zero
"""
COMMON = frozenset(_WORDS.split())
