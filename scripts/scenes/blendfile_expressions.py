"""Asks Blender which expressions of drivers it computes itself, and which work only where scripts
may run, and writes the answers for a test of internal/render/blendfile.

    blender -b --factory-startup --disable-autoexec --python-exit-code 1 \
        --python scripts/scenes/blendfile_expressions.py -- internal/render/blendfile/expression/testdata/answers.json
"""

import json
import sys

import bpy

EXPRESSIONS = r"""
frame
frame+1
var*2
var ** 2
var % 2
var // 2
min(var,1)
min()
min(1)
max(1,2,3,frame)
round(var)
round(var, 2)
int(var)
float(var)
bool(var)
lerp(0,1,var)
clamp(var)
clamp(var,0,1)
clamp(var,1)
smoothstep(0,1,var)
log(var)
log(var,2)
log10(var)
log2(var)
sqrt(var)
pow(var,2)
fmod(var,2)
atan2(1,2)
atan2(1)
sinh(var)
pi
tau
e
True
False
None
not var
not not var
1 if var else 2
1 if var else 2 if frame else 3
1 if var
var and frame or 3
1 < var < 3
var == 1
var != 1
var <> 1
var is 1
010
0.5
.5
5.
00
1e5
1e
1E-3
0x10
1_000
1j
self.x
bpy.context
var.x
var[0]
"a"
-var
+-var
~var
(var)
((var)
(var,)
()
sin(var)+cos(frame)
noise.random()
abs(var)
fabs(-var)
floor(var)
ceil(var)
trunc(var)
exp(var)
radians(var)
degrees(var)
tan(var)
asin(var)
acos(var)
atan(var)
sin(var,)
sin (var)
 var 
var	+	1
var;
#frame
var#c
a b
var var
éa
_x
lambda: 1
-1 if 1 else not 2
not 1 == 2
1 == not 2
1 and not 2
var=1
var>=1
var<=1
var=>1
abs
frame frame
max
(1 if var else 2) * 3
1 if (1 if var else 2) else 3
1 if 2 if 3 else 4 else 5
1.5.5
1..5
1 / 0
math.sin(var)
sin(1)(2)
- 
hypot(1,2)
isnan(1)
copysign(1,2)
random()
swizzle
10 if frame < 5 else 20
cycle
1e400
00.5
01.5
08
0e1
1 if var else 
pi()
frame()
var(1)
sin
a@b
1 +
* 1
%s
2*-var
2*+3
- - 2
1 not 2
not
var if var
var < not 1
1 + not 2
(not 1) + 2
1 == 2 == 3
1 and
and 1
1 or 2 and not 3 or 4
-not 1
max(1 if var else 2, 3)
max(,1)
max(1,,2)
frame1
var1
VAR
true
Frame
PI
False1
1if var else 2
2var
var.real
1 <= 2 >= 3
= 1
1 ! 2
var & 1
var | 1
var ^ 1
1 if not var else -2
((((var))))
sin(cos(tan(var)))
pow(2, 3, 4)
log(1, 2, 3)
smoothstep(1,2)
lerp(1,2)
fmod(1)
clamp()
if
else
1 else 2
var + True
str(var)
len([1, 2])
len("abc")
[1, 2][0]
(1, 2)[int(var)]
{1: 2}[1]
sum([1, 2])
any([var, 1])
all([var])
hypot(3, 4)
isnan(var)
copysign(1, var)
factorial(3)
gcd(4, 6)
tau * 2
e ** 2
inf
abs(var) % 2
trunc(var) % 2
int(frame / 4) % 2
frame & 1
frame | 1
frame ^ 1
~frame
frame << 2
var in (1, 2)
var not in (1, 2)
var is None
None
bool(var)
float("1")
int("3", 16)
random()
noise.noise((1, 2, 3))
self.location.x
self
depsgraph
bpy
bpy.data
lambda: 1
(lambda: 1)()
[x for x in (1, 2)][0]
sum(x for x in (1, 2))
f"{var}"
"%d" % 3
len("%d" % 3)
eval("1")
exec("1")
open("x")
getattr(var, "x")
(y := 3)
sin(var) // 1
1 if var in [1] else 2
max([1, 2])
min(*[1, 2])
max((1, 2), key=abs)
round(var, 2) * 1
divmod(7, 2)[0]
range(3)[1]
sorted([2, 1])[0]
list((1, 2))[0]
tuple([1])[0]
set([1])
dict()
True and var
chr(65)
ord("A")
math.pi
sqrt(var) ** 0.5
frame % 24 / 24
frame@2
var if var else None
print(1)
__import__("os")
perm(3)
"""

holder = bpy.data.objects.new("holder", None)
bpy.context.scene.collection.objects.link(holder)
driver = holder.driver_add("location", 0).driver
driver.type = "SCRIPTED"
variable = driver.variables.new()
variable.name = "var"
variable.targets[0].id, variable.targets[0].data_path = holder, "location.y"
preferences = bpy.context.preferences.filepaths


def works(scripts):
    """Whether the expression gives a value where scripts may run, or may not."""
    preferences.use_scripts_auto_execute = scripts
    driver.expression = driver.expression  # forgets what was compiled, and that it failed
    bpy.context.view_layer.update()
    return driver.is_valid


answers = {}
for expression in filter(None, EXPRESSIONS.split("\n")):
    driver.expression = expression
    answers[expression] = {"simple": driver.is_simple_expression, "with_scripts": works(True), "without": works(False)}
with open(sys.argv[sys.argv.index("--") + 1], "w", encoding="utf-8") as f:
    json.dump(answers, f, indent=1, ensure_ascii=False, sort_keys=True)
    f.write("\n")
